// Package scaffold writes the files that a project begins with: a suite for its
// objects, thresholds, and a workflow. It knows what is in these files and why,
// and how a project is built; it asks no kernel, and writes no file.
package scaffold

// Package scaffold writes the initial files of a project: a suite for its
// objects, thresholds, and a workflow. It decides on their contents, and
// detects how a project is built. It uses no kernel, and writes no files
// itself.
package scaffold

package bench

import "fmt"

// Note is what a person is told beside results and errors.
type Note struct {
	Warn bool
	Text string
	Hint string // what can be done about it
}

// Say is a Note for information.
func Say(format string, args ...any) Note { return Note{Text: fmt.Sprintf(format, args...)} }

// Warn is a Note on what may be wrong.
func Warn(format string, args ...any) Note {
	return Note{Warn: true, Text: fmt.Sprintf(format, args...)}
}

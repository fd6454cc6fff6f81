package bench

// Verify loads a program and does not run it. It measures what the verifier and the JIT
// make of the program.
type Verify struct{}

// Check implements Settings.
func (v *Verify) Check(Checker) {}

// SetDefaults implements Settings.
func (v *Verify) SetDefaults() {}

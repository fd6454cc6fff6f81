package bench

// TestRun drives a program by BPF_PROG_RUN. The defaults depend on the program's type.
type TestRun struct {
	// Packets are run in turn, each Repeat/len(Packets) times per round. For a sk_lookup
	// program, each one is a packet that looks for its socket.
	Packets []Packet `yaml:"packets"`
	// Context is what the program is called with, or what accompanies its packets.
	Context *Context `yaml:"context"`
	// Repeat is the number of runs per round. The default is 2,000, and 200 for a type
	// that the kernel runs once per call, or as many times these as take half a
	// millisecond where time is measured. In parallel it counts per CPU, and the default
	// is ten times as large.
	Repeat int `yaml:"repeat"`
}

// Check implements Settings.
func (t *TestRun) Check(c Checker) {
	c.Count("repeat", t.Repeat, 1_000_000)
	c.Packets("packets", t.Packets)
	in := c.Under("context")
	switch x := t.Context; {
	case c.Null("context"), x != nil && x.Hex == "" && len(x.Args) == 0 && x.Size == 0:
		in.Errorf("context is empty: it takes hex, args or size")
	case x == nil:
	case x.Hex != "" && len(x.Args) > 0:
		in.Errorf("hex and args exclude each other")
	default:
		in.Count("size", x.Size, 65535)
	}
}

// SetDefaults implements Settings. The defaults depend on the program's type.
func (t *TestRun) SetDefaults() {}

// Context is the ctx_in of BPF_PROG_RUN: a structure that depends on the program's type,
// such as __sk_buff, or the arguments of a raw tracepoint.
type Context struct {
	// Hex are its first bytes, in hex digits.
	Hex string `yaml:"hex"`
	// Args are alternatively its 64-bit numbers, in the machine's byte order.
	Args []uint64 `yaml:"args"`
	// Size is its length in bytes, if it is longer; the rest is zeros.
	Size int `yaml:"size"`
}

package vm

// Module is a kernel module: the file that init_module(2) takes.
type Module struct {
	Name string
	Data []byte
}

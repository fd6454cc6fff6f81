package workload

func init() {
	tasks["reads"] = onlyCall("pread64")
	tasks["writes"] = onlyCall("pwrite64")
}

// onlyCall is the task of making one system call.
func onlyCall(name string) task {
	return func([]string) (func(int) (int, error), error) {
		return tasks["syscalls"]([]string{name})
	}
}

package workload

func init() {
	tasks["sockets"] = func([]string) (func(int) (int, error), error) {
		s, err := newNetScene()
		if err != nil {
			return nil, err
		}
		return repeat(func() error { s.exchange(); return nil }), nil
	}
}

// newNetScene is a scene with a network.
func newNetScene() (*scene, error) {
	s, err := newScene()
	if err != nil {
		return nil, err
	}
	s.net, err = newLoopback(s)
	return s, err
}

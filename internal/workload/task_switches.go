package workload

func init() {
	tasks["switches"] = func([]string) (func(int) (int, error), error) {
		swap, err := newSwitcher()
		if err != nil {
			return nil, err
		}
		return repeat(swap), nil
	}
}

package guest

import (
	"os"
	"strings"
	"time"
)

const (
	clockFile = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
	// earlyClock is the clock of a kernel until it has measured the speed of
	// the TSC, for a second or so.
	earlyClock = "tsc-early"
	// clockPatience is how long to wait for another one.
	clockPatience = 5 * time.Second
)

// settleClock waits until the kernel has its final clock. Reading one clock
// takes more instructions than another, and programs read it, and so does the
// kernel to charge them. While nothing runs, exact mode's time passes at once.
func settleClock() {
	for began := time.Now(); time.Since(began) < clockPatience; time.Sleep(100 * time.Millisecond) {
		name, err := os.ReadFile(clockFile)
		if err != nil || strings.TrimSpace(string(name)) != earlyClock {
			return
		}
	}
}

package bench

import "fmt"

// retvalNames are the names of return values, by the type of program.
var retvalNames = map[string]map[uint32]string{
	"xdp": {0: "XDP_ABORTED", 1: "XDP_DROP", 2: "XDP_PASS", 3: "XDP_TX", 4: "XDP_REDIRECT"},
	"sched_cls": {
		0xffffffff: "TC_ACT_UNSPEC", 0: "TC_ACT_OK", 1: "TC_ACT_RECLASSIFY", 2: "TC_ACT_SHOT", 3: "TC_ACT_PIPE",
		4: "TC_ACT_STOLEN", 5: "TC_ACT_QUEUED", 6: "TC_ACT_REPEAT", 7: "TC_ACT_REDIRECT", 8: "TC_ACT_TRAP",
	},
}

// HasRetvalNames reports whether the return values of a type of program have names.
func HasRetvalNames(typ string) bool { return retvalNames[typ] != nil }

// RetvalName returns the name of what a program of a type returned, or the number.
func RetvalName(typ string, v uint32) string {
	if name := retvalNames[typ][v]; name != "" {
		return name
	}
	return fmt.Sprint(int32(v)) //nolint:gosec // an error is a negative number
}

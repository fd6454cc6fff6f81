package folder

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// The environment variables that turn this test binary into a process that works on the
// store in a folder.
const (
	writerDir    = "TEST_BASELINE_WRITER"   // save runs and print the ID of each
	writerFrom   = "TEST_BASELINE_FROM"     // the first run's number
	writerCount  = "TEST_BASELINE_COUNT"    // how many
	historyCount = "TEST_BASELINE_MEASURES" // for how many measures
	historyDir   = "TEST_BASELINE_HISTORY"  // read the history, print the memory
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(writerDir) != "":
		write(Open(os.Getenv(writerDir)))
	case os.Getenv(historyDir) != "":
		readHistory(Open(os.Getenv(historyDir)))
	default:
		os.Exit(m.Run())
	}
}

// write does the work of a writing process.
func write(d *Dir) {
	from, count := must(strconv.Atoi(os.Getenv(writerFrom))), must(strconv.Atoi(os.Getenv(writerCount)))
	for i := from; i < from+count; i++ {
		e := testEntry(i)
		e.Tags = []string{"a tag"}
		fmt.Println(must(d.Save(context.Background(), e)).ID)
	}
}

// writer returns such a process.
func writer(ctx context.Context, d *Dir, from, count int) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(),
		writerDir+"="+d.path, writerFrom+"="+strconv.Itoa(from), writerCount+"="+strconv.Itoa(count))
	return cmd
}

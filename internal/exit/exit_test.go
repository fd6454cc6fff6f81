package exit

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestCodeOf(t *testing.T) {
	failed := errors.New("failed")
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, Pass},
		{failed, NotMeasured},
		{Usage(nil), Pass},
		{Usage(failed), WrongUsage},
		{NoMeasure(Usage(failed)), WrongUsage},
		{fmt.Errorf("while measuring: %w", Usage(failed)), WrongUsage},
		{Usage(fmt.Errorf("read it: %w", context.Canceled)), NotMeasured},
		{Regressed(failed), Regression},
		{Said(Regression), Regression},
		{errors.Join(Usage(failed), NoMeasure(failed)), WrongUsage},
		{errors.Join(NoMeasure(failed), Usage(failed)), NotMeasured},
		// A regression stays one, whatever fails besides.
		{errors.Join(NoMeasure(failed), Regressed(failed)), Regression},
		{errors.Join(failed, errors.Join(Said(NotMeasured), Said(Regression))), Regression},
		// What wraps the reason of a failure decides.
		{NoMeasure(Regressed(failed)), NotMeasured},
	} {
		if got := CodeOf(c.err); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
	}
}

func TestEachLeavesOutWhatWasSaid(t *testing.T) {
	one, two := errors.New("one"), errors.New("two")
	each := Each(errors.Join(NoMeasure(errors.Join(one, two)), Said(Regression), Usage(two)))
	if got, want := fmt.Sprint(each), "[one two two]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if CodeOf(each[1]) != NotMeasured || CodeOf(each[2]) != WrongUsage {
		t.Errorf("the codes of %v are lost", each)
	}
}

package firefox

import (
	"errors"
	"fmt"
	"reflect"
)

// check reports what is wrong with the tables of a file: columns of different lengths,
// places that are not in a table, callers after what they call, times that go back. The
// viewer checks none of it, and shows something.
func (f *File) check() error {
	s := &f.Shared
	c := &checker{}
	for _, table := range []any{&s.Stacks, &s.Frames, &s.Funcs, &s.Resources, &s.Symbols, &s.Sources, &s.Locations} {
		c.lengths("shared", table)
	}
	c.within("stackTable.frame", s.Stacks.Frame, s.Frames.Length)
	for i, offset := range s.Stacks.PrefixOffset {
		if offset < 0 || offset > i {
			c.add("stackTable.prefixOffset[%d] is %d", i, offset)
		}
	}
	c.within("frameTable.func", s.Frames.Func, s.Funcs.Length)
	c.within("frameTable.category", s.Frames.Category, len(f.Meta.Categories))
	c.within("frameTable.nativeSymbol", s.Frames.NativeSymbol, s.Symbols.Length)
	for i, category := range s.Frames.Category {
		if category < len(f.Meta.Categories) && s.Frames.Subcategory[i] >= len(f.Meta.Categories[category].Subcategories) {
			c.add("frameTable.subcategory[%d] is %d", i, s.Frames.Subcategory[i])
		}
	}
	c.within("funcTable.name", s.Funcs.Name, len(s.Strings))
	c.within("funcTable.resource", s.Funcs.Resource, s.Resources.Length)
	c.withinOrNull("funcTable.source", s.Funcs.Source, s.Sources.Length)
	c.within("resourceTable.lib", s.Resources.Lib, len(f.Libs))
	c.within("resourceTable.name", s.Resources.Name, len(s.Strings))
	c.within("nativeSymbols.libIndex", s.Symbols.Lib, len(f.Libs))
	c.within("nativeSymbols.name", s.Symbols.Name, len(s.Strings))
	c.within("sources.filename", s.Sources.Filename, len(s.Strings))
	for i := range f.Threads {
		t := &f.Threads[i]
		name := fmt.Sprintf("thread %d", i)
		c.lengths(name, &t.Samples)
		c.lengths(name, &t.Markers)
		c.withinOrNull(name+".samples.stack", t.Samples.Stack, s.Stacks.Length)
		c.within(name+".markers.name", t.Markers.Name, len(s.Strings))
		c.within(name+".markers.category", t.Markers.Category, len(f.Meta.Categories))
		for j := 1; j < len(t.Samples.Time); j++ {
			if t.Samples.Time[j] < t.Samples.Time[j-1] {
				c.add("%s.samples.time[%d] is before that of the sample before", name, j)
			}
		}
		for j, data := range t.Markers.Data {
			if at := causeOf(data); at != nil && (at.Stack < 0 || at.Stack >= s.Stacks.Length) {
				c.add("%s.markers.data[%d].cause.stack is %d of %d", name, j, at.Stack, s.Stacks.Length)
			}
			if end := t.Markers.End[j]; end != nil && *end < t.Markers.Start[j] {
				c.add("%s.markers.endTime[%d] is before its start", name, j)
			}
		}
	}
	return errors.Join(c.wrong...)
}

func causeOf(data any) *cause {
	switch d := data.(type) {
	case disk:
		return d.Cause
	case fault:
		return d.Cause
	}
	return nil
}

type checker struct{ wrong []error }

func (c *checker) add(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Errorf(format, args...))
}

func (c *checker) within(name string, places []int, end int) {
	for i, at := range places {
		if at < 0 || at >= end {
			c.add("%s[%d] is %d of %d", name, i, at, end)
		}
	}
}

func (c *checker) withinOrNull(name string, places []*int, end int) {
	for i, at := range places {
		if at != nil && (*at < 0 || *at >= end) {
			c.add("%s[%d] is %d of %d", name, i, *at, end)
		}
	}
}

// lengths compares each column of a table with its Length.
func (c *checker) lengths(where string, table any) {
	v := reflect.ValueOf(table).Elem()
	length := int(v.FieldByName("Length").Int())
	for i := range v.NumField() {
		if column := v.Field(i); column.Kind() == reflect.Slice && column.Len() != length {
			c.add("%s: column %s of %s has %d rows, not %d", where, v.Type().Field(i).Name, v.Type().Name(), column.Len(), length)
		}
	}
}

package dwarf

import (
	"cmp"
	"slices"
	"sort"
)

// span is a range of addresses that belongs to a unit or a function, by its index.
type span struct {
	low, high uint64
	of        int32
}

// appendRanges appends the ranges of an entry. It drops those outside the code: a
// linker sets the addresses of functions that it discards to 0, 1 or the largest one.
func (u *unit) appendRanges(spans []span, e *entry, of int32) []span {
	if e.ranges.form != 0 {
		return u.appendList(spans, e.ranges, of)
	}
	if e.low.form == 0 || e.high.form == 0 {
		return spans
	}
	low, high := u.address(e.low), e.high.n
	if e.high.isAddress() {
		high = u.address(e.high)
	} else {
		high += low
	}
	if !u.data.take(spanSize) {
		return spans
	}
	return u.appendRange(spans, low, high, of)
}

// appendRange appends a range, for which there is room in the budget.
func (u *unit) appendRange(spans []span, low, high uint64, of int32) []span {
	if low >= high || !u.data.inCode(low) {
		return spans
	}
	return append(spans, span{low, high, of})
}

// appendList appends the ranges of a list (DWARF 4, 2.17.3; DWARF 5, 7.25).
func (u *unit) appendList(spans []span, v value, of int32) []span {
	d, at := u.data, v.n
	if u.version < 5 {
		c := newCursor(d.Ranges, at, d.Order)
		largest := ^uint64(0) >> (64 - 8*u.addrSize)
		for base := u.low; d.take(spanSize); {
			low, high := c.uint(u.addrSize), c.uint(u.addrSize)
			switch {
			case c.bad || low == 0 && high == 0:
				return spans
			case low == largest:
				base = high
			default:
				spans = u.appendRange(spans, base+low, base+high, of)
			}
		}
		return spans
	}
	if v.form == formRnglistx {
		relative, ok := u.indexed(d.RngLists, u.rngBase, v.n, u.offsetSize)
		if !ok {
			return spans
		}
		at = u.rngBase + relative
	}
	c := newCursor(d.RngLists, at, d.Order)
	indexed := func() uint64 { return u.address(value{c.uleb(), formAddrx}) }
	for base := u.low; !c.bad && d.take(spanSize); {
		var low, high uint64
		switch c.uint(1) {
		case 0x01: // base_addressx
			base = indexed()
			continue
		case 0x02: // startx_endx
			low, high = indexed(), indexed()
		case 0x03: // startx_length
			low = indexed()
			high = low + c.uleb()
		case 0x04: // offset_pair
			low, high = base+c.uleb(), base+c.uleb()
		case 0x05: // base_address
			base = c.uint(u.addrSize)
			continue
		case 0x06: // start_end
			low, high = c.uint(u.addrSize), c.uint(u.addrSize)
		case 0x07: // start_length
			low = c.uint(u.addrSize)
			high = low + c.uleb()
		default: // end_of_list, or malformed
			return spans
		}
		if !c.bad {
			spans = u.appendRange(spans, low, high, of)
		}
	}
	return spans
}

// steps says to which span each address belongs: from an address up to that of the
// next step.
type steps []step

type step struct {
	at uint64
	of int32 // -1 for none
}

// innermost returns the steps of spans that contain each other: an address belongs to
// the innermost. Of several that are equal it is the last. It sorts the spans.
func innermost(spans []span) steps {
	slices.SortStableFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(b.high, a.high))
	})
	var all steps
	var open []span
	closeUpTo := func(at uint64) {
		for len(open) > 0 && open[len(open)-1].high <= at {
			end := open[len(open)-1].high
			// A malformed span ends after the one that it is in.
			for len(open) > 0 && open[len(open)-1].high <= end {
				open = open[:len(open)-1]
			}
			of := int32(-1)
			if len(open) > 0 {
				of = open[len(open)-1].of
			}
			all = append(all, step{end, of})
		}
	}
	for _, s := range spans {
		closeUpTo(s.low)
		open = append(open, s)
		all = append(all, step{s.low, s.of})
	}
	closeUpTo(^uint64(0))
	return all
}

// of returns the index of the span that an address belongs to, or -1.
func (s steps) of(addr uint64) int32 {
	i := sort.Search(len(s), func(i int) bool { return s[i].at > addr }) - 1
	if i < 0 {
		return -1
	}
	return s[i].of
}

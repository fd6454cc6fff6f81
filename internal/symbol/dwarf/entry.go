package dwarf

// Tags, attributes, forms and kinds of units (DWARF 5, 7.5; those of GNU in
// binutils, include/dwarf2.def).
const (
	tagEntryPoint        = 0x03
	tagCompileUnit       = 0x11
	tagInlinedSubroutine = 0x1d
	tagSubprogram        = 0x2e
	tagSkeletonUnit      = 0x4a

	attrName            = 0x03
	attrLine            = 0x10
	attrLow             = 0x11
	attrHigh            = 0x12
	attrDir             = 0x1b
	attrOrigin          = 0x31
	attrSpecification   = 0x47
	attrRanges          = 0x55
	attrCallFile        = 0x58
	attrCallLine        = 0x59
	attrLinkageName     = 0x6e
	attrStrBase         = 0x72
	attrAddrBase        = 0x73
	attrRngBase         = 0x74
	attrMIPSLinkageName = 0x2007

	formAddr          = 0x01
	formBlock2        = 0x03
	formBlock4        = 0x04
	formData8         = 0x07
	formString        = 0x08
	formBlock         = 0x09
	formBlock1        = 0x0a
	formSdata         = 0x0d
	formStrp          = 0x0e
	formUdata         = 0x0f
	formRefAddr       = 0x10
	formRef1          = 0x11
	formRefUdata      = 0x15
	formIndirect      = 0x16
	formSecOffset     = 0x17
	formExprloc       = 0x18
	formFlagPresent   = 0x19
	formStrx          = 0x1a
	formAddrx         = 0x1b
	formRefSup4       = 0x1c
	formStrpSup       = 0x1d
	formData16        = 0x1e
	formLineStrp      = 0x1f
	formImplicitConst = 0x21
	formLoclistx      = 0x22
	formRnglistx      = 0x23
	formRefSup8       = 0x24
	formStrx1         = 0x25
	formStrx4         = 0x28
	formAddrx1        = 0x29
	formAddrx4        = 0x2c
	formGNUAddrIndex  = 0x1f01
	formGNUStrIndex   = 0x1f02
	formGNURefAlt     = 0x1f20
	formGNUStrpAlt    = 0x1f21

	unitCompile  = 1
	unitPartial  = 3
	unitSkeleton = 4
)

// fixedSizes are the sizes in bytes of forms that have one.
var fixedSizes = [...]uint8{
	0x05: 2, 0x06: 4, 0x07: 8, 0x0b: 1, 0x0c: 1, // data2, data4, data8, data1, flag
	0x11: 1, 0x12: 2, 0x13: 4, 0x14: 8, // ref1 to ref8
	0x1c: 4, 0x20: 8, 0x24: 8, // ref_sup4, ref_sig8, ref_sup8
	0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4, // strx1 to strx4
	0x29: 1, 0x2a: 2, 0x2b: 3, 0x2c: 4, // addrx1 to addrx4
}

// value is the value of an attribute: a number, whose meaning depends on the
// form; of a string within the entry, its offset in the section. Form 0 means that
// there is no such attribute.
type value struct {
	n    uint64
	form uint16
}

// entry is an entry of .debug_info, with the attributes that functions are found by.
type entry struct {
	tag                                               uint64 // 0 ends the children of an entry
	children                                          bool
	name, linkageName, origin, specification          value
	low, high, ranges, callFile, callLine             value
	dir, line /* table */, addrBase, rngBase, strBase value
}

// next reads an entry. It returns false if it is malformed, or exceeds the budget: there are
// attributes that take no bytes.
func (u *unit) next(c *cursor, e *entry) bool {
	*e = entry{}
	code := c.uleb()
	if code == 0 {
		return !c.bad
	}
	a := u.abbrev(code)
	if a == nil || !u.data.take(uint64(len(a.attributes))) {
		return false
	}
	e.tag, e.children = a.tag, a.children
	for i := range a.attributes {
		b := &a.attributes[i]
		v := u.value(c, b.form, b.constant)
		switch b.name {
		case attrName:
			e.name = v
		case attrLinkageName, attrMIPSLinkageName:
			e.linkageName = v
		case attrOrigin:
			e.origin = v
		case attrSpecification:
			e.specification = v
		case attrLow:
			e.low = v
		case attrHigh:
			e.high = v
		case attrRanges:
			e.ranges = v
		case attrCallFile:
			e.callFile = v
		case attrCallLine:
			e.callLine = v
		case attrDir:
			e.dir = v
		case attrLine:
			e.line = v
		case attrAddrBase:
			e.addrBase = v
		case attrRngBase:
			e.rngBase = v
		case attrStrBase:
			e.strBase = v
		}
	}
	return !c.bad
}

// value reads a value of a form (DWARF 5, 7.5.6).
func (u *unit) value(c *cursor, form uint16, constant int64) value {
	if form == formIndirect {
		if form = uint16(min(c.uleb(), 0xffff)); form == formIndirect || form == formImplicitConst {
			c.bad = true
		}
	}
	v := value{form: form}
	if int(form) < len(fixedSizes) && fixedSizes[form] != 0 {
		v.n = c.uint(int(fixedSizes[form]))
		return v
	}
	switch form {
	case formAddr:
		v.n = c.uint(u.addrSize)
	case formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
		v.n = c.uleb()
	case formSdata:
		v.n = uint64(c.sleb())
	case formStrp, formLineStrp, formSecOffset, formStrpSup, formGNURefAlt, formGNUStrpAlt:
		v.n = c.uint(u.offsetSize)
	case formRefAddr:
		if u.version == 2 {
			v.n = c.uint(u.addrSize)
		} else {
			v.n = c.uint(u.offsetSize)
		}
	case formString:
		v.n = uint64(c.at)
		c.skipString()
	case formFlagPresent:
		v.n = 1
	case formImplicitConst:
		v.n = uint64(constant)
	case formData16:
		c.bytes(16)
	case formBlock1:
		c.bytes(c.uint(1))
	case formBlock2:
		c.bytes(c.uint(2))
	case formBlock4:
		c.bytes(c.uint(4))
	case formBlock, formExprloc:
		c.bytes(c.uleb())
	default:
		c.bad = true
	}
	return v
}

// text returns a string, which takes of the budget: many entries can refer to it. Strings that
// are not in a section of their own are in section.
func (u *unit) text(v value, section []byte) string {
	s := u.lookUp(v, section)
	if !u.data.take(uint64(len(s))) {
		return ""
	}
	return s
}

func (u *unit) lookUp(v value, section []byte) string {
	d := u.data
	switch {
	case v.form == formString:
		return text(section, v.n)
	case v.form == formStrp:
		return text(d.Str, v.n)
	case v.form == formLineStrp:
		return text(d.LineStr, v.n)
	case v.form == formStrx, formStrx1 <= v.form && v.form <= formStrx4:
		if at, ok := u.indexed(d.StrOffsets, u.strBase, v.n, u.offsetSize); ok {
			return text(d.Str, at)
		}
	case (v.form == formGNUStrpAlt || v.form == formStrpSup) && d.Alt != nil:
		return text(d.Alt.Str, v.n)
	}
	return ""
}

// indexed returns the number with an index in the table at an offset of a section.
func (u *unit) indexed(section []byte, base, index uint64, size int) (uint64, bool) {
	if index > uint64(len(section)) || base > uint64(len(section)) {
		return 0, false
	}
	c := newCursor(section, base+index*uint64(size), u.data.Order)
	n := c.uint(size)
	return n, !c.bad
}

// address returns an address, or 0 if the file has none there.
func (u *unit) address(v value) uint64 {
	if v.form == formAddr {
		return v.n
	}
	at, _ := u.indexed(u.data.Addr, u.addrBase, v.n, u.addrSize)
	return at
}

func (v value) isAddress() bool {
	return v.form == formAddr || v.form == formAddrx || formAddrx1 <= v.form && v.form <= formAddrx4
}

// refers returns the offset that a reference has, and the file that the offset is in:
// nil if that file is missing.
func (u *unit) refers(v value) (*Data, uint64) {
	switch {
	case v.form == formRefAddr:
		return u.data, v.n
	case v.form == formGNURefAlt || v.form == formRefSup4 || v.form == formRefSup8:
		return u.data.Alt, v.n
	case formRef1 <= v.form && v.form <= formRefUdata:
		return u.data, uint64(u.header) + v.n
	}
	return nil, 0
}

package firefox

import (
	"fmt"

	"github.com/org/ebpf-bench-action/internal/profile"
)

// schema says how markers of a type are shown.
type schema struct {
	Name       string   `json:"name"`
	Tooltip    string   `json:"tooltipLabel"`
	TableLabel string   `json:"tableLabel"`
	ChartLabel string   `json:"chartLabel"`
	Display    []string `json:"display"`
	Fields     []field  `json:"fields"`
}

type field struct {
	Key    string `json:"key"`
	Label  string `json:"label"`
	Format string `json:"format"`
}

var display = []string{"marker-chart", "marker-table", "timeline-overview"}

var schemas = []schema{
	{"Disk", "{marker.data.operation}", "{marker.data.operation} {marker.data.bytes}", "{marker.data.operation}", display, []field{
		{"operation", "Operation", "string"}, {"bytes", "Size", "bytes"}, {"device", "Device", "string"}, {"sector", "Sector", "integer"},
	}},
	{"Fault", "Page fault", "{marker.data.address} {marker.data.page}", "Page fault", display, []field{
		{"address", "Address", "string"}, {"page", "Page", "string"},
	}},
}

type cause struct {
	Stack int `json:"stack"`
}

type disk struct {
	Type      string `json:"type"`
	Operation string `json:"operation"`
	Bytes     uint32 `json:"bytes"`
	Device    string `json:"device"`
	Sector    uint64 `json:"sector"`
	Cause     *cause `json:"cause,omitempty"`
}

type fault struct {
	Type    string `json:"type"`
	Address string `json:"address,omitempty"`
	Page    string `json:"page,omitempty"`
	Cause   *cause `json:"cause,omitempty"`
}

// marker adds a request to a disk, or a page fault.
func (c *converter) marker(t *markersTable, s profile.Sample) {
	var because *cause
	if at := c.stack(s); at >= 0 {
		because = &cause{at}
	}
	var data any
	name := "Fault"
	switch {
	case s.Request != nil:
		name = "Disk"
		operation := "read"
		if s.Request.Write {
			operation = "write"
		}
		data = disk{"Disk", operation, s.Request.Bytes, fmt.Sprintf("%d:%d", s.Request.Major, s.Request.Minor), s.Request.Sector, because}
	default:
		f := fault{Type: "Fault", Cause: because}
		if s.Address != 0 {
			f.Address = fmt.Sprintf("0x%x", s.Address)
		}
		if s.FromFile {
			f.Page = "of a file"
		}
		data = f
	}
	const instant, interval = 0, 1
	t.Data, t.Name, t.Start = append(t.Data, data), append(t.Name, c.text(name)), append(t.Start, milliseconds(start(s)))
	if s.Took > 0 {
		end := milliseconds(s.Time)
		t.End, t.Phase = append(t.End, &end), append(t.Phase, interval)
	} else {
		t.End, t.Phase = append(t.End, nil), append(t.Phase, instant)
	}
	t.Category = append(t.Category, other)
	t.Length++
}

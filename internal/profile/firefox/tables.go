package firefox

// The tables have one slice for each column, all of the same length. Columns that the
// viewer requires and that do not apply hold nulls.

type meta struct {
	Interval       float64     `json:"interval"`
	StartTime      float64     `json:"startTime"`
	EndTime        float64     `json:"endTime"`
	ProfilingStart float64     `json:"profilingStartTime"`
	ProfilingEnd   float64     `json:"profilingEndTime"`
	ProcessType    int         `json:"processType"`
	Product        string      `json:"product"`
	Stackwalk      int         `json:"stackwalk"`
	Version        int         `json:"version"`
	Processed      int         `json:"preprocessedProfileVersion"`
	Platform       string      `json:"platform"`
	OSCPU          string      `json:"oscpu"`
	CPU            string      `json:"CPUName"`
	LogicalCPUs    int         `json:"logicalCPUs"`
	Symbolicated   bool        `json:"symbolicated"`
	NotOnSearchfox bool        `json:"sourceCodeIsNotOnSearchfox"`
	Categories     []category  `json:"categories"`
	MarkerSchema   []schema    `json:"markerSchema"`
	SampleUnits    sampleUnits `json:"sampleUnits"`
	ImportedFrom   string      `json:"importedFrom"`
}

type sampleUnits struct {
	Time           string `json:"time"`
	EventDelay     string `json:"eventDelay"`
	ThreadCPUDelta string `json:"threadCPUDelta"`
}

type category struct {
	Name          string   `json:"name"`
	Color         string   `json:"color"`
	Subcategories []string `json:"subcategories"`
}

type lib struct {
	Arch       string  `json:"arch"`
	Name       string  `json:"name"`
	Path       string  `json:"path"`
	DebugName  string  `json:"debugName"`
	DebugPath  string  `json:"debugPath"`
	BreakpadID string  `json:"breakpadId"`
	CodeID     *string `json:"codeId"`
}

type shared struct {
	Strings   []string      `json:"stringArray"`
	Stacks    stackTable    `json:"stackTable"`
	Frames    frameTable    `json:"frameTable"`
	Funcs     funcTable     `json:"funcTable"`
	Resources resourceTable `json:"resourceTable"`
	Symbols   symbolTable   `json:"nativeSymbols"`
	Sources   sourceTable   `json:"sources"`
	Locations locationTable `json:"sourceLocationTable"`
}

// init makes the columns, which must not be null.
func (s *shared) init() {
	s.Strings = []string{}
	s.Stacks = stackTable{Frame: []int{}, PrefixOffset: []int{}}
	s.Frames = frameTable{
		Address: []int64{}, InlineDepth: []int{}, Category: []int{}, Subcategory: []int{}, Func: []int{}, NativeSymbol: []int{},
		InnerWindow: []int{}, Line: []*int{}, Column: []*int{}, Original: []*int{},
	}
	s.Funcs = funcTable{
		Name: []int{}, IsJS: []bool{}, RelevantForJS: []bool{}, Resource: []int{}, Source: []*int{}, Line: []*int{}, Column: []*int{}, Original: []*int{},
	}
	s.Resources = resourceTable{Type: []int{}, Lib: []int{}, Name: []int{}, Host: []*int{}}
	s.Symbols = symbolTable{Lib: []int{}, Address: []int64{}, Name: []int{}, Size: []*int64{}}
	s.Sources = sourceTable{ID: []*string{}, Filename: []int{}, StartLine: []int{}, StartColumn: []int{}, SourceMap: []*int{}, Content: []*string{}}
	s.Locations = locationTable{Source: []int{}, Line: []int{}, Column: []int{}}
}

type stackTable struct {
	Frame []int `json:"frame"`
	// PrefixOffset is how far before a stack that of its caller is; 0 is for those without.
	PrefixOffset []int `json:"prefixOffset"`
	Length       int   `json:"length"`
}

type frameTable struct {
	Address      []int64 `json:"address"`
	InlineDepth  []int   `json:"inlineDepth"`
	Category     []int   `json:"category"`
	Subcategory  []int   `json:"subcategory"`
	Func         []int   `json:"func"`
	NativeSymbol []int   `json:"nativeSymbol"`
	InnerWindow  []int   `json:"innerWindowID"`
	Line         []*int  `json:"line"`
	Column       []*int  `json:"column"`
	Original     []*int  `json:"originalLocation"`
	Length       int     `json:"length"`
}

type funcTable struct {
	Name          []int  `json:"name"`
	IsJS          []bool `json:"isJS"`
	RelevantForJS []bool `json:"relevantForJS"`
	Resource      []int  `json:"resource"`
	Source        []*int `json:"source"`
	Line          []*int `json:"lineNumber"`
	Column        []*int `json:"columnNumber"`
	Original      []*int `json:"originalLocation"`
	Length        int    `json:"length"`
}

type resourceTable struct {
	Type   []int  `json:"type"`
	Lib    []int  `json:"lib"`
	Name   []int  `json:"name"`
	Host   []*int `json:"host"`
	Length int    `json:"length"`
}

type symbolTable struct {
	Lib     []int    `json:"libIndex"`
	Address []int64  `json:"address"`
	Name    []int    `json:"name"`
	Size    []*int64 `json:"functionSize"`
	Length  int      `json:"length"`
}

type sourceTable struct {
	ID          []*string `json:"id"`
	Filename    []int     `json:"filename"`
	StartLine   []int     `json:"startLine"`
	StartColumn []int     `json:"startColumn"`
	SourceMap   []*int    `json:"sourceMapURL"`
	Content     []*string `json:"content"`
	Length      int       `json:"length"`
}

type locationTable struct {
	Source []int `json:"source"`
	Line   []int `json:"line"`
	Column []int `json:"column"`
	Length int   `json:"length"`
}

type thread struct {
	ProcessType    string       `json:"processType"`
	ProcessName    string       `json:"processName"`
	ProcessStartup float64      `json:"processStartupTime"`
	ProcessEnd     *float64     `json:"processShutdownTime"`
	Register       float64      `json:"registerTime"`
	Unregister     float64      `json:"unregisterTime"`
	PausedRanges   []any        `json:"pausedRanges"`
	ShowMarkers    bool         `json:"showMarkersInTimeline"`
	Name           string       `json:"name"`
	IsMain         bool         `json:"isMainThread"`
	PID            string       `json:"pid"`
	TID            uint32       `json:"tid"`
	Samples        samplesTable `json:"samples"`
	Markers        markersTable `json:"markers"`
}

type samplesTable struct {
	Stack      []*int    `json:"stack"` // null if there is none
	Time       []float64 `json:"time"`
	Weight     []float64 `json:"weight"`
	WeightType string    `json:"weightType"`
	Length     int       `json:"length"`
}

func (t *samplesTable) add(stack int, at, weight float64) {
	place := &stack
	if stack < 0 {
		place = nil
	}
	t.Stack, t.Time, t.Weight = append(t.Stack, place), append(t.Time, at), append(t.Weight, weight)
	t.Length++
}

type markersTable struct {
	Data     []any      `json:"data"`
	Name     []int      `json:"name"`
	Start    []float64  `json:"startTime"`
	End      []*float64 `json:"endTime"`
	Phase    []int      `json:"phase"`
	Category []int      `json:"category"`
	Length   int        `json:"length"`
}

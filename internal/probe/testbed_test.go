package probe

import (
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// files are the files of a machine, by path.
type files map[string]string

func (f files) fs() fstest.MapFS {
	m := make(fstest.MapFS, len(f))
	for name, text := range f {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

const (
	cpuOnline       = "sys/devices/system/cpu/online"
	vulnerabilities = "sys/devices/system/cpu/vulnerabilities/"
	sysVendor       = "sys/class/dmi/id/sys_vendor"
	productName     = "sys/class/dmi/id/product_name"
	clocksources    = "sys/devices/system/clocksource/clocksource0/available_clocksource"
	jitEnable       = "proc/sys/net/core/bpf_jit_enable"
	jitHardening    = "proc/sys/net/core/bpf_jit_harden"
)

func TestReadTestbed(t *testing.T) {
	for _, c := range []struct {
		name  string
		files files
		want  bench.Testbed
	}{
		{"no files", nil, bench.Testbed{CPU: "unknown", Cores: runtime.NumCPU(), JIT: "unknown"}},
		{
			"a hosted runner on Hyper-V",
			files{
				"proc/cpuinfo": "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\n" +
					"model name\t: AMD EPYC 7763 64-Core Processor\nflags\t\t: fpu vme hypervisor lahf_lm\n" +
					"\nprocessor\t: 1\nmodel name\t: another\n",
				cpuOnline:                          "0-3\n",
				sysVendor:                          "Microsoft Corporation\n",
				productName:                        "Virtual Machine\n",
				jitEnable:                          "1\n",
				jitHardening:                       "0\n",
				vulnerabilities + "meltdown":       "Not affected\n",
				vulnerabilities + "retbleed":       "Mitigation: untrained return thunk; SMT disabled\n",
				vulnerabilities + "itlb_multihit":  "KVM: Mitigation: Split huge pages\n",
				vulnerabilities + "spec_rstack":    "Vulnerable: Safe RET, no microcode\n",
				vulnerabilities + "srbds":          "Unknown: Dependent on hypervisor status\n",
				vulnerabilities + "spectre_v1":     "Mitigation: usercopy/swapgs barriers\n",
				vulnerabilities + "tsx/unexpected": "Mitigation: a directory\n",
			},
			bench.Testbed{
				CPU: "AMD EPYC 7763 64-Core Processor", Cores: 4, Virtual: "hyper-v", JIT: "on",
				Mitigations: map[string]string{
					"retbleed":   "untrained return thunk; SMT disabled",
					"spectre_v1": "usercopy/swapgs barriers",
				},
			},
		},
		{
			"a hosted arm64 runner",
			files{
				"proc/cpuinfo": "processor\t: 0\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd evtstrm\n" +
					"CPU implementer\t: 0x6d\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd49\nCPU revision\t: 0\n",
				cpuOnline:    "0-1,3\n",
				sysVendor:    "Microsoft Corporation\n",
				productName:  "Virtual Machine\n",
				jitEnable:    "2\n",
				jitHardening: "1\n",
			},
			bench.Testbed{
				CPU: "Microsoft Azure Cobalt 100", Cores: 3, Virtual: "hyper-v",
				JIT: "on, with debug output",
			},
		},
		{
			"an old cloud on Xen",
			files{
				"proc/cpuinfo":        "model name\t: Intel(R) Xeon(R) CPU E5-2676 v3 @ 2.40GHz\nflags\t\t: fpu hypervisor\n",
				cpuOnline:             "0\n",
				"sys/hypervisor/type": "xen\n",
				sysVendor:             "Xen\n",
				productName:           "HVM domU\n",
				jitEnable:             "0\n",
				jitHardening:          "2\n",
			},
			bench.Testbed{
				CPU: "Intel(R) Xeon(R) CPU E5-2676 v3 @ 2.40GHz", Cores: 1, Virtual: "xen",
				JIT: "off", JITHarden: true,
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.Mode, c.want.Kernel, c.want.Arch = "host", "unknown", "unknown"
			if got := readTestbed(c.files.fs()); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestTestbedOfThisMachine(t *testing.T) {
	testbed := Testbed()
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSpace(string(release)); testbed.Kernel != want {
		t.Errorf("kernel is %q, want %q", testbed.Kernel, want)
	}
	if testbed.Mode != "host" || testbed.KernelBuild == "" || testbed.Arch == "unknown" ||
		testbed.CPU == "" || testbed.Cores < 1 || testbed.JIT == "" {
		t.Errorf("something is missing: %+v", testbed)
	}
}

func TestCPUModel(t *testing.T) {
	for _, c := range []struct{ name, cpuinfo, want string }{
		{"nothing", "", "unknown"},
		{"x86", "cpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Intel(R) Xeon(R) Platinum 8370C\ncpu cores\t: 2\n", "Intel(R) Xeon(R) Platinum 8370C"},
		{"Graviton 3", "CPU implementer\t: 0x41\nCPU part\t: 0xd40\n", "ARM Neoverse-V1"},
		{"Raspberry Pi 4", "CPU implementer\t: 0x41\nCPU part\t: 0xd08\n\nRevision\t: c03111\nModel\t\t: Raspberry Pi 4\n", "ARM Cortex-A72"},
		{"unlisted arm64", "CPU implementer\t: 0x46\nCPU part\t: 0x001\n", "arm64 implementer 0x46 part 0x001"},
		{"broken arm64", "CPU implementer\t: 0x46\n", "unknown"},
		{"POWER", "processor\t: 0\ncpu\t\t: POWER9 (architected), altivec supported\nclock\t\t: 2200.000000MHz\n", "POWER9 (architected), altivec supported"},
		{"RISC-V", "hart\t\t: 1\nisa\t\t: rv64imafdc\nuarch\t\t: sifive,u74-mc\n", "sifive,u74-mc"},
	} {
		if got := cpuModel(c.cpuinfo); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestHypervisor(t *testing.T) {
	const virtual, metal, arm = "flags\t: fpu hypervisor\n", "flags\t: fpu vmx\n", "Features\t: fp asimd\n"
	for _, c := range []struct {
		name    string
		cpuinfo string
		files   files
		want    string
	}{
		{"a laptop", metal, files{sysVendor: "LENOVO\n", productName: "20XW\n", clocksources: "tsc hpet acpi_pm\n"}, ""},
		{"QEMU", virtual, files{sysVendor: "QEMU\n", productName: "Standard PC (Q35 + ICH9, 2009)\n"}, "qemu"},
		{"KVM of Red Hat", virtual, files{sysVendor: "Red Hat\n", productName: "KVM\n"}, "kvm"},
		{"Firecracker, without DMI", virtual, files{clocksources: "tsc kvm-clock\n"}, "kvm"},
		{"Hyper-V, without DMI", virtual, files{clocksources: "hyperv_clocksource_tsc_page acpi_pm\n"}, "hyper-v"},
		{"nothing but the flag", virtual, nil, "unknown hypervisor"},
		{"Amazon's Nitro", virtual, files{sysVendor: "Amazon EC2\n", productName: "c6i.large\n"}, "amazon ec2"},
		{"Amazon's bare metal", metal, files{sysVendor: "Amazon EC2\n", productName: "c6i.metal\n"}, ""},
		{"Amazon's bare metal on arm64", arm, files{sysVendor: "Amazon EC2\n", productName: "c7g.metal\n"}, ""},
		{"Amazon's Graviton", arm, files{sysVendor: "Amazon EC2\n", productName: "c7g.large\n"}, "amazon ec2"},
		{"Xen", virtual, files{"sys/hypervisor/type": "xen\n", sysVendor: "Xen\n"}, "xen"},
		{"a Chromebook", metal, files{sysVendor: "Google\n", productName: "Eve\n"}, ""},
		{"a Mac's guest", arm, files{sysVendor: "Apple Inc.\n", productName: "Apple Virtualization Generic Platform\n"}, "apple virtualization"},
		{"an arm64 board", arm, nil, ""},
	} {
		if got := hypervisor(c.files.fs(), c.cpuinfo); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCores(t *testing.T) {
	for list, want := range map[string]int{
		"0":         1,
		"0-1":       2,
		"0-3,8,9":   6,
		"0,2-4":     4,
		"":          runtime.NumCPU(),
		"3-1":       runtime.NumCPU(),
		"0-":        runtime.NumCPU(),
		"all of it": runtime.NumCPU(),
	} {
		if got := cores(list); got != want {
			t.Errorf("cores(%q) = %d, want %d", list, got, want)
		}
	}
}

func TestIsThisCPU(t *testing.T) {
	name := Testbed().CPU
	if !IsThisCPU("  " + strings.ReplaceAll(name, " ", "  ") + " ") {
		t.Errorf("%q is not this CPU", name)
	}
	if IsThisCPU("another CPU") {
		t.Error("another CPU is this one")
	}
}

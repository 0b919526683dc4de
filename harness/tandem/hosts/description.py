"""Describes the machine that this process runs on."""

import platform
import re
import resource
from contextlib import suppress
from pathlib import Path

import psutil

CPU = Path("devices/system/cpu")
CLOCK_SOURCE = Path("devices/system/clocksource/clocksource0/current_clocksource")
UNIFIED = Path("fs/cgroup/cgroup.controllers")
"""The file that exists where version 2 of control groups is mounted."""
CLOCK_SOURCES = CLOCK_SOURCE.with_name("available_clocksource")
UNITS = {"K": 1 << 10, "M": 1 << 20}
CACHES = {"l1d": ("1", "Data"), "l1i": ("1", "Instruction"), "l2": ("2", "Unified"), "l3": ("3", "Unified")}
"""Name -> level and type of /sys/devices/system/cpu/cpu0/cache/index*."""
ARM_MAKERS = {
    "0x41": "Arm",
    "0x46": "Fujitsu",
    "0x48": "HiSilicon",
    "0x4e": "NVIDIA",
    "0x51": "Qualcomm",
    "0x61": "Apple",
    "0x6d": "Microsoft",
    "0xc0": "Ampere",
}
"""The codes of makers that servers have. The others stay codes."""
HYPERVISORS = {
    "kvm": "kvm",
    "hyperv": "hyperv",
    "xen": "xen",
    "vmware": "vmware",
    "virtualbox": "virtualbox",
    "apple virtualization": "apple",
    "google compute engine": "kvm",
    "qemu": "qemu",
    "virtual machine": "hyperv",
}
"""A word of a clock source's name or of the firmware's -> the hypervisor. The first that fits is taken."""


def first_line(file: Path) -> str | None:
    """The first line of a file; None without such. A firmware may write any bytes."""
    try:
        return next((line.strip() for line in file.read_text(errors="replace").splitlines()), None)
    except OSError:
        return None


def _processor(proc: Path) -> dict[str, str]:
    """The fields of the first processor in cpuinfo: name -> value. Empty without such a file."""
    out: dict[str, str] = {}
    with suppress(OSError):
        for line in (proc / "cpuinfo").read_text(errors="replace").splitlines():
            name, colon, value = line.partition(":")
            if colon:
                out.setdefault(name.strip(), value.strip())
    return out


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _bytes(text: str | None) -> int | None:
    """A size as the kernel writes it: `48K`, `32768 KB`."""
    found = re.fullmatch(r"(\d+) ?([KM])B?", text or "")
    return int(found[1]) * UNITS[found[2]] if found else None


def _cpu(found: dict[str, str]) -> dict[str, str | int | None]:
    """The CPU's identity from cpuinfo. x86 tells numbers; Arm a maker, a part and its variant and revision, which stand here
    as they do for lscpu: maker, model and stepping."""
    maker, part = found.get("CPU implementer"), found.get("CPU part")
    variant, revision = found.get("CPU variant"), found.get("CPU revision")
    vendor = found.get("vendor_id") or (None if maker is None else ARM_MAKERS.get(maker, maker))
    return {
        # Arm has no name for a model: its maker and part are one.
        "cpu_model": found.get("model name") or (f"{vendor} part {part}" if vendor and part else None),
        "cpu_vendor": vendor,
        "cpu_family": _number(found.get("cpu family") or found.get("CPU architecture")),
        "cpu_model_number": part or _number(found.get("model")),
        "cpu_stepping": f"r{int(variant, 16)}p{revision}"
        if variant and revision
        else _number(found.get("stepping")),
        "cpu_microcode": found.get("microcode"),
        "cpu_cache_bytes": _bytes(found.get("cache size")),
    }


def _caches(sys: Path) -> dict[str, int | None]:
    """The first CPU's caches: their bytes, and how many CPUs share each."""
    out: dict[str, int | None] = {}
    folders = sorted((sys / CPU / "cpu0/cache").glob("index*"))
    told = {(first_line(one / "level"), first_line(one / "type")): one for one in folders}
    for name, key in CACHES.items():
        folder = told.get(key)
        # Hexadecimal, a comma after each 32 CPUs.
        mask = None if folder is None else first_line(folder / "shared_cpu_map")
        out[f"cpu_cache_{name}_bytes"] = None if folder is None else _bytes(first_line(folder / "size"))
        out[f"cpu_cache_{name}_cpus"] = int(mask.replace(",", ""), 16).bit_count() if mask else None
    return out


def _hypervisor(sys: Path, product: str | None, flags: str | None) -> str | None:
    """The hypervisor that this machine is a guest of: as the kernel says, or its clocks or the firmware's names tell; `yes` where the CPU
    only says that there is one, `none` where it says that there is none. None: it is not known.

    flags: cpuinfo's, which Arm has not. product: of the firmware.
    """
    said = first_line(sys / "hypervisor/type")
    clocks = first_line(sys / CLOCK_SOURCES) or ""
    hint = f"{clocks} {product or ''}".lower()
    named = said or next((name for word, name in HYPERVISORS.items() if word in hint), None)
    if flags is None:
        return named
    return (named or "yes") if "hypervisor" in flags.split() else said or "none"


def _cgroup_version(sys: Path) -> int | None:
    """The version of control groups that containers are counted by; None where there are none."""
    if (sys / UNIFIED).exists():
        return 2
    return 1 if (sys / "fs/cgroup/cpuacct").exists() else None


def turbo(sys: Path) -> str | None:
    """`on` or `off`; None where the kernel does not say."""
    for path, on in (("cpufreq/boost", "1"), ("intel_pstate/no_turbo", "0")):
        found = first_line(sys / CPU / path)
        if found is not None:
            return "on" if found == on else "off"
    return None


def describe(proc: Path, sys: Path) -> dict[str, str | int | float | None]:
    """The host, for the record. None: the kernel does not tell."""
    processor = _processor(proc)
    # The machine's maker and name, as the firmware has them: no serial number is among these.
    parts = [first_line(sys / "class/dmi/id" / name) for name in ("sys_vendor", "product_name")]
    product = " ".join(part for part in parts if part) or None
    # The kernel's own part of its command line: without words that name or follow the first process.
    command_line = first_line(proc / "cmdline")
    words = (command_line or "").partition(" -- ")[0].split()
    parameters = " ".join(word for word in words if not word.startswith(("init=", "rdinit=")))
    return {
        "cpus": psutil.cpu_count(),
        **_cpu(processor),
        **_caches(sys),
        "hypervisor": _hypervisor(sys, product, processor.get("flags")),
        "product": product,
        "memory_bytes": psutil.virtual_memory().total,
        "kernel": platform.release(),
        "machine": platform.machine(),
        "clock_source": first_line(sys / CLOCK_SOURCE),
        "cgroup_version": _cgroup_version(sys),
        "open_files_limit": resource.getrlimit(resource.RLIMIT_NOFILE)[1],
        "kernel_command_line": None if command_line is None else parameters,
        "governor": first_line(sys / CPU / "cpu0/cpufreq/scaling_governor"),
        "turbo": turbo(sys),
        "swap_bytes": psutil.swap_memory().total,
        "smt": first_line(sys / CPU / "smt/active"),
        "transparent_hugepage": first_line(sys / "kernel/mm/transparent_hugepage/enabled"),
    }

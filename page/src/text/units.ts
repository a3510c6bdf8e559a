// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them: bytes in binary units, which say so.

const UNITS = ["KiB", "MiB", "GiB", "TiB"];

export function bytes(value: number): string {
  const size = Math.abs(value);
  if (size < 1024) return `${Math.round(value)} bytes`;
  let scaled = value / 1024;
  let unit = 0;
  while (Math.abs(scaled) >= 1024 && unit < UNITS.length - 1) { scaled /= 1024; ++unit; }
  return `${Number(scaled.toFixed(2))} ${UNITS[unit]}`;
}

/** A difference: +3 MiB, −3 MiB, the same. */
export function signed(value: number): string {
  return value > 0 ? `+${bytes(value)}` : value < 0 ? `−${bytes(-value)}` : "the same";
}

export function exactBytes(value: number): string {
  return `${count(value)} bytes`;
}

export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

export function percent(part: number, whole: number): string {
  if (part > 0 && part < 0.0005 * whole) return "< 0.1 %";
  return whole > 0 ? `${(100 * part / whole).toFixed(part / whole < 0.0995 ? 1 : 0)} %` : "";
}

/** 3.42 s, 2 min 5 s, 3 h 4 min, 17 ms. */
export function duration(ns: number): string {
  const seconds = ns / 1e9;
  if (seconds < 1e-3) return `${(ns / 1e3).toFixed(0)} µs`;
  if (seconds < 1) return `${(ns / 1e6).toFixed(seconds < 0.1 ? 1 : 0)} ms`;
  if (seconds < 60) return `${seconds.toFixed(2)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds % 3600 / 60)} min`;
}

/** Underscores are for programs. */
export function words(name: string): string {
  return name.replaceAll("_", " ");
}

const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A name of the traced program: without what would move the cursor or turn the text around. */
export function shown(name: string, most = 120): string {
  const clean = name.replace(CONTROLS, "\ufffd");
  return clean.length <= most ? clean : `${clean.slice(0, most / 2)}…${clean.slice(-most / 2)}`;
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

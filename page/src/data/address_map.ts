// SPDX-License-Identifier: Apache-2.0
// Addresses without the gaps between them: a device's address space is a million times as large as its
// memory. Ranges that blocks ever lay in stand one above the other.

export interface AddressRange { from: number; to: number; at: number }

/** Ranges of addresses, ascending; `at`: where each begins in a space without gaps above `gap` bytes. */
export function rangesOf(addresses: ArrayLike<number>, sizes: ArrayLike<number>, gap = 2 << 20): AddressRange[] {
  const order = new Float64Array(addresses.length);
  for (let i = 0; i < order.length; ++i) order[i] = addresses[i]!;
  const ends = new Map<number, number>();
  for (let i = 0; i < order.length; ++i) {
    const end = addresses[i]! + sizes[i]!;
    if (end > (ends.get(addresses[i]!) ?? 0)) ends.set(addresses[i]!, end);
  }
  order.sort();
  const made: AddressRange[] = [];
  let at = 0;
  for (const address of order) {
    const end = ends.get(address)!;
    const last = made[made.length - 1];
    if (last && address <= last.to + gap) {
      if (end > last.to) { at += end - last.to; last.to = end; }
      continue;
    }
    made.push({ from: address, to: end, at });
    at += end - address;
  }
  return made;
}

export function heightOf(ranges: AddressRange[]): number {
  const last = ranges[ranges.length - 1];
  return last ? last.at + last.to - last.from : 0;
}

export function placeOf(ranges: AddressRange[], address: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle]!.from <= address) low = middle + 1; else high = middle;
  }
  const range = ranges[Math.max(low - 1, 0)];
  return range ? range.at + address - range.from : 0;
}

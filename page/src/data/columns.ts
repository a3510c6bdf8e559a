// SPDX-License-Identifier: Apache-2.0
// The page's columns of numbers: one zlib stream in base64, of which each is decoded when it is
// first asked for.
import type { ColumnPlace } from "./facts";

export type Numbers = Float64Array | Uint32Array | Uint16Array | Uint8Array;

export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

export async function inflated(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

function raw(buffer: ArrayBuffer, place: ColumnPlace): Numbers {
  switch (place.type) {
    case "u8": return new Uint8Array(buffer, place.offset, place.count);
    case "u16": return new Uint16Array(buffer, place.offset, place.count);
    case "u32": return new Uint32Array(buffer, place.offset, place.count);
    case "f64": return new Float64Array(buffer, place.offset, place.count);
  }
}

export function decoded(buffer: ArrayBuffer, place: ColumnPlace): Numbers {
  const values = raw(buffer, place);
  if (!place.delta && place.base === 0 && place.scale === 1) return values;
  const made = new Float64Array(place.count);
  let sum = 0;
  for (let i = 0; i < place.count; ++i) {
    sum = place.delta ? sum + values[i]! : values[i]!;
    made[i] = place.base + sum * place.scale;
  }
  return made;
}

export class Columns {
  private readonly places = new Map<string, ColumnPlace>();
  private readonly made = new Map<string, Numbers>();

  constructor(private readonly buffer: ArrayBuffer, list: ColumnPlace[]) {
    for (const place of list) this.places.set(place.name, place);
  }

  /** Empty where there is none of that name. */
  get(name: string): Numbers {
    let found = this.made.get(name);
    if (!found) {
      const place = this.places.get(name);
      found = place ? decoded(this.buffer, place) : new Uint8Array(0);
      this.made.set(name, found);
    }
    return found;
  }
}

// SPDX-License-Identifier: Apache-2.0
// Very many rectangles on a canvas: on the graphics card by WebGL 2, else one by one.

import { byArea, visibleIn, type Rectangles, type Window2 } from "./visible";

export interface Painter {
  readonly kind: "WebGL 2" | "canvas";
  load(all: Rectangles): void;
  recolour(colours: Uint8Array): void;
  /** At most so many of those that the window shows, the largest first; how many were painted. */
  paint(view: Window2, most: number): number;
}

// What a search fades never covers or adds to anything: of several rectangles in one pixel the last one shows, and a
// faded one only where no other is. Numbers of events and addresses have more digits than a float: each is a sum of two. Six vertices a
// rectangle read it from textures: renderers without a graphics card take seconds for 300,000 instances.
// `chosen` names those that this frame paints.
const ROW = 2048;
const VERTEX = `#version 300 es
precision highp sampler2D;
precision highp usampler2D;
uniform sampler2D edges; uniform sampler2D rests; uniform sampler2D colours; uniform usampler2D chosen;
uniform vec4 from; uniform vec2 scale; uniform vec2 pixel;
flat out vec4 painted;
void main() {
  int one = gl_VertexID / 6, vertex = gl_VertexID - 6 * one;
  int number = int(texelFetch(chosen, ivec2(one % ${ROW}, one / ${ROW}), 0).r);
  ivec2 place = ivec2(number % ${ROW}, number / ${ROW});
  vec4 at = (texelFetch(edges, place, 0) - from.xxzz) + (texelFetch(rests, place, 0) - from.yyww);
  vec2 low = at.xz * scale, high = at.yw * scale;
  high = max(high, low + pixel);
  vec2 corner = vec2(vertex == 1 || vertex >= 4 ? 1 : 0, vertex == 2 || vertex == 3 || vertex == 5 ? 1 : 0);
  painted = texelFetch(colours, place, 0);
  gl_Position = vec4(mix(low, high, corner) * 2.0 - 1.0, painted.a < 1.0 ? 0.5 : 0.0, 1.0);
}`;
const FRAGMENT = `#version 300 es
precision mediump float; flat in vec4 painted; out vec4 pixel;
void main() { pixel = vec4(painted.rgb * painted.a, painted.a); }`;

function compiled(gl: WebGL2RenderingContext): WebGLProgram | null {
  const program = gl.createProgram()!;
  for (const [type, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]] as const) {
    const shader = gl.createShader(type)!;
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}

function onCard(canvas: HTMLCanvasElement): Painter | null {
  const gl = canvas.getContext("webgl2", { antialias: false, alpha: true, premultipliedAlpha: true, preserveDrawingBuffer: true });
  const program = gl ? compiled(gl) : null;
  if (!gl || !program) return null;
  gl.useProgram(program);
  const place = (name: string) => gl.getUniformLocation(program, name);
  const [from, scale, pixel] = [place("from"), place("scale"), place("pixel")];
  const most = gl.getParameter(gl.MAX_TEXTURE_SIZE) as number;
  let count = 0;
  let all: Rectangles | null = null;
  let order = new Uint32Array(0);
  let found = new Uint32Array(0);
  let sent = -1;  // how many of `order` the card has in `chosen`, when it has them from the first on
  ["edges", "rests", "colours", "chosen"].forEach((name, unit) => {
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    gl.uniform1i(place(name), unit);
  });
  const fill = (unit: number, values: Float32Array | Uint8Array) => {
    const rows = Math.min(most, Math.max(1, Math.ceil(count / ROW)));
    const isFloat = values instanceof Float32Array;
    const whole = isFloat ? new Float32Array(4 * ROW * rows) : new Uint8Array(4 * ROW * rows);
    whole.set(values.subarray(0, whole.length));
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.texImage2D(gl.TEXTURE_2D, 0, isFloat ? gl.RGBA32F : gl.RGBA8, ROW, rows, 0, gl.RGBA, isFloat ? gl.FLOAT : gl.UNSIGNED_BYTE, whole);
  };
  const split = (value: number): [number, number] => { const high = Math.fround(value); return [high, value - high]; };
  gl.enable(gl.DEPTH_TEST);
  gl.depthFunc(gl.LEQUAL);
  return {
    kind: "WebGL 2",
    load(given) {
      all = given;
      count = all.left.length;
      order = byArea(all);
      found = new Uint32Array(ROW * Math.max(1, Math.ceil(count / ROW)));
      sent = -1;
      const edges = new Float32Array(4 * count);
      const rests = new Float32Array(4 * count);
      [all.left, all.right, all.bottom, all.top].forEach((values, edge) => {
        for (let i = 0; i < count; ++i) {
          const high = Math.fround(values[i]!);
          edges[4 * i + edge] = high;
          rests[4 * i + edge] = values[i]! - high;
        }
      });
      fill(0, edges);
      fill(1, rests);
      fill(2, all.colours);
      gl.activeTexture(gl.TEXTURE3);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.R32UI, ROW, found.length / ROW, 0, gl.RED_INTEGER, gl.UNSIGNED_INT, found);
    },
    recolour(colours) { fill(2, colours); },
    paint(view, most) {
      if (!all) return 0;
      const n = visibleIn(view, all, order, Math.min(most, count), found);
      if (n !== count || sent !== count) {
        gl.activeTexture(gl.TEXTURE3);
        gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, ROW, Math.ceil(n / ROW), gl.RED_INTEGER, gl.UNSIGNED_INT, found);
        sent = n;
      }
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      gl.uniform4f(from, ...split(view.left), ...split(view.bottom));
      gl.uniform2f(scale, 1 / (view.right - view.left), 1 / (view.top - view.bottom));
      gl.uniform2f(pixel, 1 / canvas.width, 1 / canvas.height);
      gl.drawArrays(gl.TRIANGLES, 0, 6 * n);
      return n;
    },
  };
}

function oneByOne(canvas: HTMLCanvasElement): Painter {
  const context = canvas.getContext("2d")!;
  let all: Rectangles | null = null;
  let order = new Uint32Array(0);
  let found = new Uint32Array(0);
  return {
    kind: "canvas",
    load(given) { all = given; order = byArea(given); found = new Uint32Array(order.length); },
    recolour(colours) { if (all) all.colours = colours; },
    paint(view, most) {
      context.clearRect(0, 0, canvas.width, canvas.height);
      if (!all) return 0;
      const across = canvas.width / (view.right - view.left);
      const up = canvas.height / (view.top - view.bottom);
      const n = visibleIn(view, all, order, most, found);
      for (const isFaded of [true, false]) {
        for (let at = 0; at < n; ++at) {
          const i = found[at]!;
          const [red, green, blue, alpha] = all.colours.subarray(4 * i, 4 * i + 4);
          if (alpha! < 255 !== isFaded) continue;
          const box = [(all.left[i]! - view.left) * across, canvas.height - (all.top[i]! - view.bottom) * up,
            Math.max((all.right[i]! - all.left[i]!) * across, 1), Math.max((all.top[i]! - all.bottom[i]!) * up, 1)] as const;
          context.clearRect(...box);
          context.fillStyle = `rgb(${red} ${green} ${blue} / ${alpha! / 255})`;
          context.fillRect(...box);
        }
      }
      return n;
    },
  };
}

export function painterFor(canvas: HTMLCanvasElement): Painter { return onCard(canvas) ?? oneByOne(canvas); }

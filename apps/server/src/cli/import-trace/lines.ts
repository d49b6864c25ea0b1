/** The lines of a trace file as bytes, so that nothing is decoded before it is checked. */
import { closeSync, createReadStream, openSync, readSync } from "node:fs"
import type { Readable } from "node:stream"
import { createGunzip } from "node:zlib"
import { withoutMark } from "@flyball/evidence"

/**
 * Longest line.
 *
 * - Unit: bytes. As much as a request to the server may have; a file without line ends must not fill the memory.
 */
export const MAX_LINE_BYTES = 16 * 1_048_576

/** Names standard input where a file is named. */
export const STANDARD_INPUT = "-"

/** A line that is not blank. */
export interface Line {
  readonly bytes: Uint8Array
  /** From 1, blank lines counted. */
  readonly number: number
  /** Bytes of the file read so far, packed ones where it is packed. */
  readonly bytesRead: number
}

/** A file that cannot be read to its end; the message is a sentence, `line` how far it was read. */
export class TraceUnreadable extends Error {
  readonly line: number
  constructor(line: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.line = line
  }
}

const LF = 0x0a
const CR = 0x0d

/**
 * The lines of a file or of {@link STANDARD_INPUT}, unpacked when the first bytes say gzip. Ends with LF or CRLF, the
 * last one with or without; a byte order mark is dropped.
 *
 * - Fails: {@link TraceUnreadable} for damaged gzip and lines over {@link MAX_LINE_BYTES}; the reason of `stop`; the
 *   system's errors as they are.
 */
export const traceLines = async function* (file: string, stop?: AbortSignal): AsyncGenerator<Line> {
  const source: Readable & { readonly bytesRead?: number } =
    file === STANDARD_INPUT ? process.stdin : createReadStream(file)
  // The writer of a pipe may be silent for long; a file never is.
  stop?.addEventListener("abort", () => void source.destroy(stop.reason as Error), { once: true })
  const packed = file === STANDARD_INPUT ? await beginsAsGzip(source) : isGzip(file)
  const content = packed ? source.pipe(createGunzip()) : source
  if (packed) source.on("error", (cause) => content.destroy(cause))
  let number = 1
  let rest: Array<Uint8Array> = []
  let restBytes = 0
  const take = (end: Uint8Array): Line | null => {
    const whole = rest.length === 0 ? end : Buffer.concat([...rest, end])
    rest = []
    restBytes = 0
    const unmarked = number === 1 ? withoutMark(whole) : whole
    const bytes = unmarked.at(-1) === CR ? unmarked.subarray(0, -1) : unmarked
    const line = isBlank(bytes) ? null : { bytes, number, bytesRead: source.bytesRead ?? 0 }
    number++
    return line
  }
  try {
    for await (const chunk of content as AsyncIterable<Buffer>) {
      let start = 0
      for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
        const line = take(chunk.subarray(start, end))
        if (line !== null) yield line
        start = end + 1
      }
      if (start < chunk.length) rest.push(chunk.subarray(start))
      restBytes += chunk.length - start
      if (restBytes > MAX_LINE_BYTES)
        throw new TraceUnreadable(number, `the line is longer than ${MAX_LINE_BYTES} bytes`)
    }
  } catch (cause) {
    if (packed && String((cause as NodeJS.ErrnoException).code).startsWith("Z_"))
      throw new TraceUnreadable(number, "the gzip data is damaged or ends too early", { cause })
    throw cause
  } finally {
    source.destroy()
  }
  const last = take(new Uint8Array())
  if (last !== null) yield last
}

const isBlank = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === CR)

/** By its first bytes: a name says what somebody meant. */
const isGzip = (file: string): boolean => {
  const descriptor = openSync(file, "r")
  try {
    const magic = new Uint8Array(2)
    return readSync(descriptor, magic, 0, 2, 0) === 2 && magic[0] === 0x1f && magic[1] === 0x8b
  } finally {
    closeSync(descriptor)
  }
}

/** The same of a stream, which keeps its bytes. */
const beginsAsGzip = async (source: Readable): Promise<boolean> => {
  let start: Buffer = Buffer.alloc(0)
  while (start.length < 2) {
    const chunk = source.read() as Buffer | null
    if (chunk !== null) start = Buffer.concat([start, chunk])
    else if (source.readableEnded || source.errored !== null) break
    else
      await new Promise<void>((resolve) => {
        for (const event of ["readable", "end", "error"]) source.once(event, () => resolve())
      })
  }
  if (start.length > 0) source.unshift(start)
  return start[0] === 0x1f && start[1] === 0x8b
}

/**
 * Passes the stream of an upstream on. Text goes at once. A tool call waits until its arguments are complete and
 * judged; then it passes as it came, or a sentence stands in its place. Every end settles. Spec: platform section 8.
 */
import { BYTES_PER_TOKEN } from "@flyball/contract/http"
import type { AgentStream } from "@flyball/core"
import { utf8 } from "@flyball/evidence"
import {
  type CallPiece,
  type Codec,
  Malformed,
  MAX_CALLS,
  type Piece,
  type Reported,
  type StreamCodec,
  type ToolCall
} from "./codec.ts"
import type { HaltWatch } from "./halts.ts"
import type { CallEnd, CallOutcome } from "./ledger.ts"
import { type SseEvent, SseReader } from "./sse.ts"
import type { Verdict } from "./verdicts.ts"

/** A stream to pass on. */
export interface Passage {
  readonly codec: Codec
  readonly isOwnUsage: boolean
  readonly upstream: AgentStream
  readonly halts: HaltWatch
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
  readonly judge: (call: ToolCall, at: number, signal: AbortSignal) => Promise<Verdict>
  /** Called once. */
  readonly settle: (outcome: CallOutcome) => Promise<void>
}

/** Characters of events that are held. */
const MAX_HELD = 16 * 1_048_576

/** Tokens of a text, estimated. */
export const estimate = (characters: number): number => Math.ceil(characters / BYTES_PER_TOKEN)

/** Merges what an upstream reports: later words replace earlier ones, and what is left out stays. */
export const merged = (before: Reported, now: Reported): Reported => ({
  input: now.input ?? before.input,
  output: now.output ?? before.output
})

/** Passes a stream on. It settles also where nobody reads it. */
export const passStream = (passage: Passage): AsyncIterable<Uint8Array> => new Passing(passage)

type Open = { -readonly [K in keyof ToolCall]: ToolCall[K] }

class Passing implements AsyncIterable<Uint8Array> {
  readonly #at: Passage
  readonly #stream: StreamCodec
  readonly #sse = new SseReader()
  readonly #stop = new AbortController()
  #end: CallEnd | null = null
  #settled: Promise<void> | null = null
  #hasBegun = false
  #isOver = false
  #usage: Reported = { input: null, output: null }
  #characters = 0
  #held: Array<SseEvent> = []
  #heldSize = 0
  readonly #open = new Map<string, Open>()
  readonly #wholes = new Set<string>()
  readonly #judged = new Set<string>()
  #due: Array<Open> = []
  readonly #refused = new Map<string, string>()
  readonly #tools: Array<Verdict> = []

  constructor(passage: Passage) {
    this.#at = passage
    this.#stream = passage.codec.stream(passage.isOwnUsage)
    passage.halts.onHalt(() => this.#cut("halted"))
    const gone = (): void => {
      this.#cut("client_gone")
      if (!this.#hasBegun) void this.#settle()
    }
    if (passage.halts.halt() !== null) this.#cut("halted")
    if (passage.signal.aborted) gone()
    else passage.signal.addEventListener("abort", gone, { once: true })
  }

  /** Ends it from outside. The first end counts. */
  #cut(end: CallEnd): void {
    this.#end ??= end
    this.#stop.abort()
    this.#at.upstream.abort()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    this.#hasBegun = true
    let last = ""
    try {
      try {
        for await (const bytes of this.#at.upstream.body) {
          const events = this.#sse.push(bytes)
          for (let at = 0; at < events.length && !this.#isCut();) {
            let out = ""
            while (at < events.length && this.#due.length === 0 && !this.#isOver) {
              const passed = this.#accept(events[at++]!)
              // The last event alone waits for the settlement, whatever came with it.
              if (this.#isOver) last = passed
              else out += passed
            }
            if (out !== "") yield utf8(out)
            if (this.#due.length > 0) last += await this.#judge()
            if (this.#isOver) break
            if (last !== "") yield utf8(last)
            last = ""
          }
          if (this.#isOver || this.#isCut()) break
        }
        if (!this.#isOver && !this.#isCut()) await this.#atEnd((text) => (last += text))
        this.#end ??= "finished"
      } catch (cause) {
        if (!this.#isCut()) last = this.#at.codec.failure(sentenceOf(cause))
        this.#end ??= "upstream_error"
      }
      // Hundreds of streams may be halted at once: none waits for the settlements of the others.
      if (this.#end === "halted") return yield utf8(this.#stream.halt(this.#output()))
      await this.#settle()
      if (last !== "" && this.#end !== "client_gone") yield utf8(last)
    } finally {
      this.#end ??= "client_gone"
      this.#at.upstream.abort()
      const settled = this.#settle()
      if (this.#end !== "halted") await settled
    }
  }

  #isCut(): boolean {
    return this.#end !== null && this.#stop.signal.aborted
  }

  /** The stream has ended without its last event. */
  async #atEnd(add: (text: string) => void): Promise<void> {
    const rest = this.#sse.end()
    if (rest !== null) add(this.#accept(rest))
    if (this.#due.length > 0) add(await this.#judge())
    if (!this.#isOver) throw new Error("its answer was cut")
  }

  /** Takes an event; answers what goes on at once. */
  #accept(event: SseEvent): string {
    const pieces = this.#stream.read(event)
    const isText = pieces.length > 0 && pieces.every(({ is }) => is === "text")
    let holds = this.#held.length > 0 && !(isText && this.#at.codec.overtakes)
    for (const piece of pieces) {
      if (piece.is === "call") holds = true
      this.#take(piece)
    }
    if (!holds && this.#due.length === 0) return this.#stream.write(event, this.#refused)
    this.#heldSize += event.raw.length
    if (this.#heldSize > MAX_HELD) throw new Malformed("a tool call is too long")
    this.#held.push(event)
    return ""
  }

  #take(piece: Piece): void {
    switch (piece.is) {
      case "text":
        this.#characters += piece.characters
        return
      case "call":
        return this.#collect(piece.piece)
      case "complete":
        for (const [key, call] of this.#open) {
          if (!key.startsWith(piece.keys)) continue
          this.#open.delete(key)
          this.#judged.add(key)
          this.#due.push(call)
        }
        return
      case "usage":
        this.#usage = merged(this.#usage, piece.usage)
        return
      case "error":
        this.#end ??= "upstream_error"
        this.#isOver = true
        return
      case "end":
        this.#isOver = true
    }
  }

  #collect({ args, isWhole, ...piece }: CallPiece): void {
    if (this.#judged.has(piece.key)) throw new Malformed("a tool call goes on behind its end")
    const known = this.#open.get(piece.key)
    if (known === undefined && this.#open.size + this.#judged.size >= MAX_CALLS)
      throw new Malformed(`it has more than ${MAX_CALLS} tool calls`)
    const call: Open = known ?? { ...piece, name: piece.name ?? "", args: "" }
    this.#open.set(piece.key, call)
    for (const member of ["id", "name"] as const) {
      const said = piece[member]
      if (said === null) continue
      if (known !== undefined && call[member] && call[member] !== said)
        throw new Malformed("two tool calls have one index")
      call[member] = said
    }
    this.#characters += isWhole && call.args !== "" ? 0 : args.length
    if (!isWhole) {
      if (args !== "" && this.#wholes.has(piece.key)) throw new Malformed("arguments go on behind their end")
      call.args += args
      return
    }
    if (call.args !== "" && call.args !== args) throw new Malformed("a tool call ends with other arguments")
    call.args = args
    this.#wholes.add(piece.key)
  }

  /** Judges what is complete; answers what was held, once nothing of it waits. */
  async #judge(): Promise<string> {
    for (const call of this.#due) {
      if (call.name === "") throw new Malformed("a tool call has no name")
      const verdict = await this.#at.judge(call, this.#tools.length, this.#stop.signal)
      this.#tools.push(verdict)
      if (verdict.sentence !== null) this.#refused.set(call.key, verdict.sentence)
      if (this.#isCut()) return ""
    }
    this.#due = []
    if (this.#open.size > 0) return ""
    const out = this.#held.map((event) => this.#stream.write(event, this.#refused)).join("")
    this.#held = []
    this.#heldSize = 0
    return out
  }

  #output(): number {
    return Math.max(this.#usage.output ?? 0, estimate(this.#characters))
  }

  #settle(): Promise<void> {
    const end = this.#end ?? "client_gone"
    const { input, output } = this.#usage
    return (this.#settled ??= this.#at
      .settle({
        end,
        upstreamStatus: this.#at.upstream.statusCode,
        // What an upstream reports before its end is not all.
        usage: { input, output: end === "finished" ? output : null },
        outputEstimate: this.#output(),
        tools: this.#tools
      })
      .finally(() => this.#at.halts.close()))
  }
}

const sentenceOf = (cause: unknown): string =>
  cause instanceof Malformed ? `The model's answer cannot be judged: ${cause.message}.` : "The model's answer was cut."

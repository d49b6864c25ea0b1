/** The form of OpenAI's chat completions. */
import { fromUtf8, utf8 } from "@flyball/evidence"
import {
  type Any,
  type CallPiece,
  type Codec,
  jsonOf,
  listOf,
  Malformed,
  type Piece,
  type Refused,
  type StreamCodec,
  textOf,
  tokens,
  type ToolCall
} from "./codec.ts"
import { type SseEvent, sseText } from "./sse.ts"

const DONE = "[DONE]"

const usageOf = (usage: Any) => ({ input: tokens(usage?.prompt_tokens), output: tokens(usage?.completion_tokens) })

/** A call of a delta or a message. */
const pieceOf = (call: Any, key: string): CallPiece => {
  const isFree = call?.custom !== undefined
  const said = call?.function ?? call?.custom ?? {}
  return {
    key,
    id: typeof call?.id === "string" && call.id !== "" ? call.id : null,
    name: typeof said.name === "string" && said.name !== "" ? said.name : null,
    args: textOf(isFree ? said.input : said.arguments),
    isFree,
    isWhole: false
  }
}

/** The calls of a delta or a message: each with its place. */
const callsOf = (said: Any, choice: unknown): ReadonlyArray<CallPiece> => [
  ...listOf(said?.tool_calls).map((call, at) => {
    const index: unknown = call?.index ?? at
    if (tokens(index) === null) throw new Malformed("a tool call has no index")
    return pieceOf(call, `${choice}:${index}`)
  }),
  ...(said?.function_call == null ? [] : [pieceOf({ function: said.function_call }, `${choice}:function`)])
]

class ChatStream implements StreamCodec {
  readonly #isOwnUsage: boolean
  #head: Any = { id: "chatcmpl-halted", object: "chat.completion.chunk", created: 0, model: "" }
  /** Choices that have not ended, and the keys of their calls in order. */
  readonly #calls = new Map<number, Array<string>>()
  readonly #open = new Set<number>([0])
  readonly #refusedSaid = new Set<string>()

  constructor(isOwnUsage: boolean) {
    this.#isOwnUsage = isOwnUsage
  }

  read(event: SseEvent): ReadonlyArray<Piece> {
    if (event.data === "") return []
    if (event.data === DONE) return [{ is: "complete", keys: "" }, { is: "end" }]
    const chunk = jsonOf(event)
    if (chunk.error !== undefined) return [{ is: "error" }]
    const { created, id, model, object } = chunk
    this.#head = { id, object, created, model }
    const pieces: Array<Piece> = []
    for (const { delta, finish_reason: reason, index = 0, message } of listOf(chunk.choices)) {
      if (tokens(index) === null) throw new Malformed("a choice has no index")
      const said = delta ?? message
      const characters =
        textOf(said?.content).length + textOf(said?.refusal).length + textOf(said?.reasoning_content).length
      if (characters > 0) pieces.push({ is: "text", characters })
      const known = this.#calls.get(index) ?? []
      this.#calls.set(index, known)
      for (const piece of callsOf(said, index)) {
        if (!known.includes(piece.key)) known.push(piece.key)
        pieces.push({ is: "call", piece })
      }
      if (reason == null) {
        this.#open.add(index)
        continue
      }
      this.#open.delete(index)
      pieces.push({ is: "complete", keys: `${index}:` })
    }
    if (chunk.usage != null) pieces.push({ is: "usage", usage: usageOf(chunk.usage) })
    return pieces
  }

  write(event: SseEvent, refused: Refused): string {
    const isChunk = event.data !== "" && event.data !== DONE
    if (!isChunk || (refused.size === 0 && !this.#isOwnUsage)) return event.raw
    if (refused.size === 0 && !event.data.includes('"usage"')) return event.raw
    const chunk = jsonOf(event)
    const choices = listOf(chunk.choices)
    if (this.#isOwnUsage && choices.length === 0 && chunk.usage != null) return ""
    if (refused.size === 0) return event.raw
    return sseText({ ...chunk, choices: choices.map((choice) => this.#rewritten(choice, refused)) })
  }

  #rewritten(choice: Any, refused: Refused): Any {
    const { delta, finish_reason: reason, index = 0 } = choice
    const left = (this.#calls.get(index) ?? []).filter((key) => !refused.has(key))
    const { function_call: call, tool_calls: calls, ...said } = delta ?? {}
    const kept = listOf(calls).flatMap((one, at) => {
      const place = left.indexOf(`${index}:${one?.index ?? at}`)
      return place < 0 ? [] : [{ ...one, index: place }]
    })
    const sentences = callsOf(delta, index).flatMap(({ key }) => {
      const sentence = this.#refusedSaid.has(key) ? undefined : refused.get(key)
      if (sentence === undefined) return []
      this.#refusedSaid.add(key)
      return [sentence]
    })
    return {
      ...choice,
      delta: {
        ...said,
        ...(sentences.length === 0 ? {} : { content: [textOf(said.content), ...sentences].filter(Boolean).join("\n") }),
        ...(kept.length === 0 ? {} : { tool_calls: kept }),
        ...(call == null || refused.has(`${index}:function`) ? {} : { function_call: call })
      },
      finish_reason: reasonOf(reason, left.length)
    }
  }

  halt(): string {
    const choices = [...this.#open].map((index) => ({ index, delta: {}, finish_reason: "content_filter" }))
    return sseText({ ...this.#head, choices }) + sseText(DONE)
  }
}

const reasonOf = (reason: unknown, left: number): unknown =>
  left === 0 && (reason === "tool_calls" || reason === "function_call") ? "stop" : reason

/** The codec. */
export const chat: Codec = {
  form: "chat",
  path: "/chat/completions",
  secretHeaders: (secret) => ({ authorization: `Bearer ${secret}` }),
  overtakes: true,
  request: (body) => {
    const text = fromUtf8(body) ?? ""
    const { stream, stream_options: options, ...rest } = JSON.parse(text)
    if (stream !== true || options?.include_usage === true) return { body, isOwnUsage: false }
    // As text where that is possible: numbers and the order of members stay as they came.
    const reporting =
      options === undefined
        ? text.replace("{", '{"stream_options":{"include_usage":true},')
        : JSON.stringify({ ...rest, stream, stream_options: { ...options, include_usage: true } })
    return { body: utf8(reporting), isOwnUsage: true }
  },
  stream: (isOwnUsage) => new ChatStream(isOwnUsage),
  failure: (message) => sseText({ error: { message, type: "api_error", code: "upstream_failed", param: null } }),
  whole: (answer) => {
    if (!Array.isArray(answer?.choices)) return null
    const calls = answer.choices.flatMap(({ index = 0, message }: Any) =>
      callsOf(message, index).map((piece): ToolCall => ({ ...piece, name: piece.name ?? "" }))
    )
    return { calls, usage: usageOf(answer.usage) }
  },
  rewrite: (answer, refused) => ({
    ...answer,
    choices: answer.choices.map((choice: Any) => {
      const { finish_reason: reason, index = 0, message } = choice
      const { function_call: call, tool_calls: calls, ...said } = message ?? {}
      const kept = listOf(calls).filter((one, at) => !refused.has(`${index}:${one?.index ?? at}`))
      const isCallRefused = refused.has(`${index}:function`)
      const sentences = callsOf(message, index).flatMap(({ key }) => refused.get(key) ?? [])
      if (sentences.length === 0) return choice
      const left = kept.length + (call == null || isCallRefused ? 0 : 1)
      return {
        ...choice,
        message: {
          ...said,
          content: [textOf(said.content), ...sentences].filter(Boolean).join("\n"),
          ...(kept.length === 0 ? {} : { tool_calls: kept }),
          ...(call == null || isCallRefused ? {} : { function_call: call })
        },
        finish_reason: reasonOf(reason, left)
      }
    })
  })
}

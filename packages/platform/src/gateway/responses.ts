/** The form of OpenAI's responses. */
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

const usageOf = (usage: Any) => ({ input: tokens(usage?.input_tokens), output: tokens(usage?.output_tokens) })

/** Items that the client runs. Others with `_call` in their name run at the upstream. */
const calls: ReadonlySet<unknown> = new Set([
  "function_call",
  "custom_tool_call",
  "computer_call",
  "local_shell_call",
  "shell_call",
  "apply_patch_call"
])

const isCall = (item: Any): boolean => calls.has(item?.type)

/** An item as a call with all of its arguments. */
const callOf = (item: Any, key: string): ToolCall => {
  const action = item.action ?? item.operation
  return {
    key,
    id: item.call_id ?? item.id ?? null,
    name: textOf(item.name) || item.type,
    args:
      item.type === "function_call"
        ? textOf(item.arguments)
        : item.type === "custom_tool_call"
          ? textOf(item.input)
          : JSON.stringify(action ?? item),
    isFree: item.type === "custom_tool_call"
  }
}

/** The message in place of a refused call. */
const messageOf = (item: Any, sentence: string) => ({
  id: item.id ?? "msg_refused",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: sentence, annotations: [] }]
})

class ResponseStream implements StreamCodec {
  #response: Any = { id: "resp_halted", object: "response", created_at: 0, model: "", output: [] }
  /** Calls by their place, as they were when they were complete; null: not yet. */
  readonly #calls = new Map<number, ToolCall | null>()

  read(event: SseEvent): ReadonlyArray<Piece> {
    if (event.data === "") return []
    if (event.data === "[DONE]") return [{ is: "complete", keys: "" }, { is: "end" }]
    const said = jsonOf(event)
    const at: number = said.output_index
    const key = `${at}.`
    const part = (args: unknown, isWhole: boolean): ReadonlyArray<Piece> => {
      if (!this.#calls.has(at)) throw new Malformed("arguments are of no call")
      const piece: CallPiece = { key, id: null, name: null, args: textOf(args), isFree: false, isWhole }
      return [{ is: "call", piece }]
    }
    switch (said.type) {
      case "response.created":
      case "response.in_progress":
      case "response.queued":
        this.#response = said.response ?? this.#response
        return this.#isAsSaid(said.response) ? [] : [{ is: "error" }]
      case "response.output_item.added": {
        if (!isCall(said.item)) return []
        if (tokens(at) === null || this.#calls.has(at)) throw new Malformed("a call begins twice")
        this.#calls.set(at, null)
        const { args, ...call } = callOf(said.item, key)
        const isFunction = said.item.type === "function_call" || call.isFree
        return [{ is: "call", piece: { ...call, args: isFunction ? args : "", isWhole: false } }]
      }
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        return part(said.delta, false)
      case "response.function_call_arguments.done":
        return part(said.arguments, true)
      case "response.custom_tool_call_input.done":
        return part(said.input, true)
      case "response.output_item.done": {
        if (!isCall(said.item)) {
          if (this.#calls.has(at)) throw new Malformed("a call ends as something else")
          return []
        }
        if (tokens(at) === null || this.#calls.get(at)) throw new Malformed("a call ends twice")
        const call = callOf(said.item, key)
        this.#calls.set(at, call)
        return [
          { is: "call", piece: { ...call, isWhole: true } },
          { is: "complete", keys: key }
        ]
      }
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        if (!this.#isAsSaid(said.response)) throw new Malformed("the response holds another call than its events")
        return [{ is: "complete", keys: "" }, { is: "usage", usage: usageOf(said.response?.usage) }, { is: "end" }]
      case "error":
        return [{ is: "error" }]
      default:
        return typeof said.delta === "string" ? [{ is: "text", characters: said.delta.length }] : []
    }
  }

  /** True when a response holds no call but those that its events made. */
  #isAsSaid(response: Any): boolean {
    const made = [...this.#calls.values()]
    return listOf(response?.output).every((item) => {
      if (!isCall(item)) return true
      const { args, id, name } = callOf(item, "")
      return made.some((one) => one !== null && one.id === id && one.name === name && one.args === args)
    })
  }

  write(event: SseEvent, refused: Refused): string {
    if (refused.size === 0 || event.data === "" || event.data === "[DONE]") return event.raw
    const said = jsonOf(event)
    if (said.response !== undefined)
      return sseText({ ...said, response: rewritten(said.response, this.#sentences(refused)) }, said.type)
    const sentence = refused.get(`${said.output_index}.`)
    if (sentence === undefined) return event.raw
    if (said.type !== "response.output_item.done") return ""
    const { item, output_index: at, sequence_number: seq } = said
    const message = messageOf(item, sentence)
    const [part] = message.content
    const of = { item_id: message.id, output_index: at, content_index: 0 }
    const empty = { ...message, status: "in_progress", content: [] }
    return [
      { type: "response.output_item.added", output_index: at, item: empty },
      { type: "response.content_part.added", ...of, part: { ...part, text: "" } },
      { type: "response.output_text.delta", ...of, delta: sentence, logprobs: [] },
      { type: "response.output_text.done", ...of, text: sentence, logprobs: [] },
      { type: "response.content_part.done", ...of, part },
      { type: "response.output_item.done", output_index: at, item: message }
    ]
      .map((one) => sseText({ ...one, sequence_number: seq }, one.type))
      .join("")
  }

  /** Sentences by the id of their call. */
  #sentences(refused: Refused): Refused {
    const found = new Map<string, string>()
    for (const [at, call] of this.#calls) {
      const sentence = refused.get(`${at}.`)
      if (sentence !== undefined && call !== null) found.set(String(call.id), sentence)
    }
    return found
  }

  halt(output: number): string {
    const usage = { input_tokens: 0, output_tokens: output, total_tokens: output }
    const why = { status: "incomplete", incomplete_details: { reason: "content_filter" }, usage }
    const type = "response.incomplete"
    return sseText({ type, sequence_number: 0, response: { ...this.#response, ...why } }, type)
  }
}

/** The response with messages in the place of calls, by the id of the call. */
const rewritten = (response: Any, sentences: Refused): Any => ({
  ...response,
  output: listOf(response.output).map((item) => {
    const sentence = isCall(item) ? sentences.get(String(callOf(item, "").id)) : undefined
    return sentence === undefined ? item : messageOf(item, sentence)
  })
})

/** The codec. */
export const responses: Codec = {
  form: "responses",
  path: "/responses",
  secretHeaders: (secret) => ({ authorization: `Bearer ${secret}` }),
  overtakes: false,
  request: (body) => ({ body, isOwnUsage: false }),
  stream: () => new ResponseStream(),
  failure: (message) =>
    sseText({ type: "error", code: "upstream_failed", message, param: null, sequence_number: 0 }, "error"),
  whole: (answer) =>
    Array.isArray(answer?.output)
      ? {
          calls: answer.output.flatMap((item: Any, at: number) => (isCall(item) ? [callOf(item, `${at}.`)] : [])),
          usage: usageOf(answer.usage)
        }
      : null,
  rewrite: (answer, refused) => ({
    ...answer,
    output: answer.output.map((item: Any, at: number) => {
      const sentence = refused.get(`${at}.`)
      return sentence === undefined ? item : messageOf(item, sentence)
    })
  })
}

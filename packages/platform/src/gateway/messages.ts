/** The form of Anthropic's messages. */
import {
  type Any,
  type Codec,
  jsonOf,
  listOf,
  Malformed,
  type Piece,
  type Refused,
  type StreamCodec,
  sum,
  textOf,
  tokens,
  type ToolCall
} from "./codec.ts"
import { type SseEvent, sseText } from "./sse.ts"

const usageOf = (usage: Any) => ({
  input: sum(usage?.input_tokens, usage?.cache_creation_input_tokens, usage?.cache_read_input_tokens),
  output: tokens(usage?.output_tokens)
})

const argsOf = (input: unknown): string => (input === undefined ? "" : JSON.stringify(input))

class MessageStream implements StreamCodec {
  /** Blocks that began, by place; `tool`: one that the client is to run. */
  readonly #blocks = new Map<number, "tool" | "other">()
  readonly #calls: Array<string> = []
  readonly #ended = new Set<number>()
  #hasBegun = false
  /** Block that the client sees and that has not ended. */
  #shown: number | null = null

  read(event: SseEvent): ReadonlyArray<Piece> {
    if (event.data === "") return []
    const said = jsonOf(event)
    switch (said.type) {
      case "message_start":
        if (listOf(said.message?.content).length > 0) throw new Malformed("a message begins with content")
        return [{ is: "usage", usage: usageOf(said.message?.usage) }]
      case "content_block_start":
        return this.#start(said)
      case "content_block_delta":
        return this.#delta(said)
      case "content_block_stop":
        if (this.#blocks.get(said.index) === undefined) throw new Malformed("a block ends that did not begin")
        this.#ended.add(said.index)
        return this.#blocks.get(said.index) === "tool" ? [{ is: "complete", keys: `${said.index}.` }] : []
      case "message_delta":
        return [{ is: "usage", usage: usageOf(said.usage) }]
      case "message_stop":
        return [{ is: "complete", keys: "" }, { is: "end" }]
      case "error":
        return [{ is: "error" }]
      default:
        return []
    }
  }

  #start({ content_block: block, index }: Any): ReadonlyArray<Piece> {
    if (tokens(index) === null || this.#blocks.has(index)) throw new Malformed("a block begins twice")
    const isTool = block?.type === "tool_use"
    this.#blocks.set(index, isTool ? "tool" : "other")
    if (!isTool) return [{ is: "text", characters: textOf(block?.text).length }]
    const key = `${index}.`
    this.#calls.push(key)
    const hasInput = Object.keys(block.input ?? {}).length > 0
    const args = hasInput ? argsOf(block.input) : ""
    return [
      {
        is: "call",
        piece: { key, id: block.id ?? null, name: block.name ?? null, args, isFree: false, isWhole: hasInput }
      }
    ]
  }

  #delta({ delta, index }: Any): ReadonlyArray<Piece> {
    const block = this.#blocks.get(index)
    if (block === undefined || this.#ended.has(index)) throw new Malformed("a piece is of no open block")
    if (block === "other") {
      const text = textOf(delta?.text).length + textOf(delta?.thinking).length + textOf(delta?.partial_json).length
      return [{ is: "text", characters: text }]
    }
    const args = textOf(delta?.partial_json)
    return [{ is: "call", piece: { key: `${index}.`, id: null, name: null, args, isFree: false, isWhole: false } }]
  }

  write(event: SseEvent, refused: Refused): string {
    if (event.data === "") return event.raw
    const said = jsonOf(event)
    const sentence = refused.get(`${said.index}.`)
    switch (said.type) {
      case "message_start":
        this.#hasBegun = true
        return event.raw
      case "content_block_start":
        this.#shown = said.index
        return sentence === undefined ? event.raw : textBlock(said.index, sentence)
      case "content_block_delta":
        return sentence === undefined ? event.raw : ""
      case "content_block_stop":
        this.#shown = null
        return event.raw
      case "message_delta": {
        const left = this.#calls.some((key) => !refused.has(key))
        return refused.size === 0 || left || said.delta?.stop_reason !== "tool_use"
          ? event.raw
          : sseText({ ...said, delta: { ...said.delta, stop_reason: "end_turn" } }, said.type)
      }
      default:
        return event.raw
    }
  }

  halt(output: number): string {
    const message = { id: "msg_halted", type: "message", role: "assistant", model: "", content: [] }
    const usage = { input_tokens: 0, output_tokens: 0 }
    const events = [
      ...(this.#hasBegun
        ? []
        : [{ type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null, usage } }]),
      ...(this.#shown === null ? [] : [{ type: "content_block_stop", index: this.#shown }]),
      {
        type: "message_delta",
        delta: { stop_reason: "refusal", stop_sequence: null },
        usage: { output_tokens: output }
      },
      { type: "message_stop" }
    ]
    return events.map((one) => sseText(one, one.type)).join("")
  }
}

const textBlock = (index: number, text: string): string =>
  sseText({ type: "content_block_start", index, content_block: { type: "text", text: "" } }, "content_block_start") +
  sseText({ type: "content_block_delta", index, delta: { type: "text_delta", text } }, "content_block_delta")

/** The codec. */
export const messages: Codec = {
  form: "messages",
  path: "/messages",
  secretHeaders: (secret) => ({ "x-api-key": secret }),
  overtakes: false,
  request: (body) => ({ body, isOwnUsage: false }),
  stream: () => new MessageStream(),
  failure: (message) => sseText({ type: "error", error: { type: "api_error", message } }, "error"),
  whole: (answer) =>
    answer?.type === "message" && Array.isArray(answer.content)
      ? {
          calls: answer.content.flatMap((block: Any, at: number): ReadonlyArray<ToolCall> =>
            block?.type === "tool_use"
              ? [
                  {
                    key: `${at}.`,
                    id: block.id ?? null,
                    name: textOf(block.name),
                    args: argsOf(block.input),
                    isFree: false
                  }
                ]
              : []
          ),
          usage: usageOf(answer.usage)
        }
      : null,
  rewrite: (answer, refused) => {
    const content = answer.content.map((block: Any, at: number) => {
      const sentence = refused.get(`${at}.`)
      return sentence === undefined ? block : { type: "text", text: sentence }
    })
    const left = content.some(({ type }: Any) => type === "tool_use")
    const isEnd = answer.stop_reason === "tool_use" && !left
    return { ...answer, content, stop_reason: isEnd ? "end_turn" : answer.stop_reason }
  }
}

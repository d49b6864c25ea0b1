/** The gateway before official clients: each form, streamed and not, each verdict, and each end to the token. */
import { Anthropic } from "@anthropic-ai/sdk"
import OpenAI from "openai"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { openPack } from "@flyball/testkit"
import { resealed, withBody } from "../replay-verdicts/changed-pack.ts"
import { events, json, openWorld, type Script, textOf as text } from "./world.ts"

let world: Awaited<ReturnType<typeof openWorld>>
beforeEach(async () => void (world = await openWorld()))
afterEach(() => world.close())

const user = [{ role: "user" as const, content: "Hi" }]

/** One answer in each form: the upstream's script, and what a client makes of it. */
interface Spoken {
  readonly text: string
  readonly calls: ReadonlyArray<string>
  readonly reason: unknown
}
type Call = { readonly name: string; readonly args: string }
interface Form {
  readonly whole: (text: string, calls: ReadonlyArray<Call>) => unknown
  /** Events of an answer: begin, text, calls, end. */
  readonly begin: () => ReadonlyArray<unknown>
  readonly say: (text: string) => ReadonlyArray<unknown>
  readonly call: (call: Call, at: number) => ReadonlyArray<unknown>
  readonly end: (calls: ReadonlyArray<Call>) => ReadonlyArray<unknown>
  readonly ask: (signal?: AbortSignal) => Promise<Spoken>
  readonly stream: (onText?: (text: string) => void, signal?: AbortSignal) => Promise<Spoken>
}

const usage = { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 }
const halves = (text: string) => [text.slice(0, text.length / 2), text.slice(text.length / 2)]

const chunk = (delta: object, finish: string | null = null) => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }]
})
const called = ({ args, name }: Call, at: number) => ({
  id: `call_${at}`,
  type: "function" as const,
  function: { name, arguments: args }
})
const chatOf = ({ finish_reason: reason, message }: OpenAI.ChatCompletion.Choice): Spoken => ({
  text: message.content ?? "",
  calls: (message.tool_calls ?? []).map((one) => (one.type === "function" ? one.function.name : one.type)),
  reason
})
const chat: Form = {
  whole: (text, calls) => ({
    id: "c1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: text, ...(calls.length === 0 ? {} : { tool_calls: calls.map(called) }) },
        finish_reason: calls.length === 0 ? "stop" : "tool_calls"
      }
    ],
    usage,
    unknown: { kept: [1.5] }
  }),
  begin: () => [chunk({ role: "assistant", content: "" })],
  say: (text) => [chunk({ content: text })],
  call: ({ args, name }, index) => [
    chunk({ tool_calls: [{ index, id: `call_${index}`, type: "function", function: { name, arguments: "" } }] }),
    ...halves(args).map((half) => chunk({ tool_calls: [{ index, function: { arguments: half } }] }))
  ],
  end: (calls) => [
    chunk({}, calls.length === 0 ? "stop" : "tool_calls"),
    { ...chunk({}), choices: [], usage },
    "[DONE]"
  ],
  ask: async (signal) => {
    const answer = await world.openai.chat.completions.create(
      { model: "m", messages: user, max_tokens: 500 },
      { signal }
    )
    return chatOf(answer.choices[0]!)
  },
  stream: async (onText, signal) => {
    const stream = world.openai.chat.completions.stream({ model: "m", messages: user, max_tokens: 500 }, { signal })
    if (onText !== undefined) stream.on("content", onText)
    return chatOf((await stream.finalChatCompletion()).choices[0]!)
  }
}

const messageUsage = { input_tokens: 30, output_tokens: 12 }
const toolUse = ({ args, name }: Call, at: number) => ({
  type: "tool_use",
  id: `toolu_${at}`,
  name,
  input: JSON.parse(args)
})
const messageOf = ({ content, stop_reason: reason }: Anthropic.Message): Spoken => ({
  text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
  calls: content.flatMap((block) => (block.type === "tool_use" ? [block.name] : [])),
  reason
})
const message = { id: "msg_1", type: "message", role: "assistant", model: "m", stop_sequence: null }
const messages: Form = {
  whole: (text, calls) => ({
    ...message,
    content: [{ type: "text", text }, ...calls.map(toolUse)],
    stop_reason: calls.length === 0 ? "end_turn" : "tool_use",
    usage: messageUsage
  }),
  begin: () => [
    {
      type: "message_start",
      message: { ...message, content: [], stop_reason: null, usage: { ...messageUsage, output_tokens: 1 } }
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }
  ],
  say: (text) => [{ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }],
  call: (call, at) => [
    ...(at === 0 ? [{ type: "content_block_stop", index: 0 }] : []),
    { type: "content_block_start", index: at + 1, content_block: { ...toolUse(call, at), input: {} } },
    ...halves(call.args).map((half) => ({
      type: "content_block_delta",
      index: at + 1,
      delta: { type: "input_json_delta", partial_json: half }
    })),
    { type: "content_block_stop", index: at + 1 }
  ],
  end: (calls) => [
    ...(calls.length === 0 ? [{ type: "content_block_stop", index: 0 }] : []),
    {
      type: "message_delta",
      delta: { stop_reason: calls.length === 0 ? "end_turn" : "tool_use", stop_sequence: null },
      usage: { output_tokens: 12 }
    },
    { type: "message_stop" }
  ],
  ask: async (signal) =>
    messageOf(await world.anthropic.messages.create({ model: "m", messages: user, max_tokens: 500 }, { signal })),
  stream: async (onText, signal) => {
    const stream = world.anthropic.messages.stream({ model: "m", messages: user, max_tokens: 500 }, { signal })
    if (onText !== undefined) stream.on("text", onText)
    return messageOf(await stream.finalMessage())
  }
}

const itemOf = ({ args, name }: Call, at: number) => ({
  type: "function_call",
  id: `fc_${at}`,
  call_id: `call_${at}`,
  name,
  arguments: args,
  status: "completed"
})
const said = (text: string) => ({
  type: "message",
  id: "msg_0",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }]
})
const response = (output: ReadonlyArray<unknown>, status = "completed") => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "m",
  status,
  output,
  usage: { input_tokens: 30, output_tokens: 12, total_tokens: 42 }
})
const responseOf = ({
  incomplete_details: why,
  output,
  output_text: text,
  status
}: OpenAI.Responses.Response): Spoken => ({
  text,
  calls: output.flatMap((item) => (item.type === "function_call" ? [item.name] : [])),
  reason: why?.reason ?? status
})
const part = { output_index: 0, content_index: 0, item_id: "msg_0" }
const responses: Form = {
  whole: (text, calls) => response([said(text), ...calls.map(itemOf)]),
  begin: () => [
    { type: "response.created", response: response([], "in_progress") },
    { type: "response.output_item.added", output_index: 0, item: { ...said(""), content: [], status: "in_progress" } },
    { type: "response.content_part.added", ...part, part: { type: "output_text", text: "", annotations: [] } }
  ],
  say: (text) => [{ type: "response.output_text.delta", ...part, delta: text }],
  call: (call, at) => {
    const of = { output_index: at + 1, item_id: `fc_${at}` }
    return [
      { type: "response.output_item.added", ...of, item: { ...itemOf(call, at), arguments: "" } },
      ...halves(call.args).map((delta) => ({ type: "response.function_call_arguments.delta", ...of, delta })),
      { type: "response.function_call_arguments.done", ...of, arguments: call.args },
      { type: "response.output_item.done", ...of, item: itemOf(call, at) }
    ]
  },
  end: (calls) => [{ type: "response.completed", response: response([said("Hello you"), ...calls.map(itemOf)]) }],
  ask: async (signal) =>
    responseOf(await world.openai.responses.create({ model: "m", input: "Hi", max_output_tokens: 500 }, { signal })),
  stream: async (onText, signal) => {
    const stream = world.openai.responses.stream({ model: "m", input: "Hi", max_output_tokens: 500 }, { signal })
    if (onText !== undefined) stream.on("response.output_text.delta", ({ delta }) => onText(delta))
    return responseOf(await stream.finalResponse())
  }
}

const forms = { chat, messages, responses }
const read = { name: "read", args: '{"path":"a"}' }
const pay = { name: "pay", args: '{"to":"b"}' }
const refund = { name: "refund", args: '{"order":"W1"}' }
const streamed = (form: Form, ...calls: ReadonlyArray<Call>): Script =>
  events(...form.begin(), ...form.say("Hello "), ...form.say("you"), ...calls.flatMap(form.call), ...form.end(calls))

/** The decisions of a call, as soon as there are some. */
const witnessed = async () => {
  for (let tries = 0; tries < 400; tries++) {
    const found = await world.decisions()
    if (found.length > 0) return found
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error("nothing was witnessed")
}

/** The decisions of a call, and its tokens, exactly. */
const settled = async (end: string, tokens: number, tools: ReadonlyArray<string> = []) => {
  const [call, ...more] = await witnessed()
  const { labels } = await world.governor.decision(call!.id)
  const { cost_micro_usd: cost, input_tokens: input, output_tokens: output } = call!.usage!
  assert.deepStrictEqual(
    [(labels as any).end, input! + output!, more.map(({ action, status }) => `${action} ${status}`)],
    [end, tokens, [...tools]]
  )
  assert.deepStrictEqual([call!.capture, call!.writer, cost], ["mediated", "system:gateway", input! + 2 * output!])
  assert.deepInclude(labels as object, { usd_inr: 80, cost_micro_inr: cost! * 80 })
  assert.strictEqual(await world.usage(), tokens)
}

const resolved = async (resolution: "approve" | "reject") => {
  for (;;) {
    const [review] = await world.governor.reviews.list({})
    if (review === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      continue
    }
    return world.governor.reviews.resolve(review.id, { resolution, reason: "fine" } as never, world.reviewer)
  }
}

describe.each(Object.entries(forms))("%s", (name, form) => {
  it("passes text and allowed calls on as they came", async () => {
    world.script = json(form.whole("Hello you", [read]))
    assert.deepInclude(await form.ask(), { text: "Hello you", calls: ["read"] })
    await settled("finished", 42, ["read intended"])
    world.script = streamed(form, read)
    const texts: Array<string> = []
    assert.deepInclude(await form.stream((text) => texts.push(text)), { text: "Hello you", calls: ["read"] })
    assert.deepStrictEqual(
      texts.filter((text) => text !== ""),
      ["Hello ", "you"]
    )
    assert.strictEqual(await world.usage(), 84)
  })

  it("puts a sentence in the place of a denied call, beside one that is allowed", async () => {
    const before = world.script
    world.script = json(form.whole("Hello you", [pay]))
    const whole = await form.ask()
    assert.deepStrictEqual(whole.calls, [])
    assert.match(whole.text, /^Hello you.*The tool call pay was refused/s)
    assert.notInclude(["tool_calls", "tool_use"], whole.reason)
    await settled("finished", 42, ["pay denied"])
    world.script = streamed(form, pay, read)
    const both = await form.stream()
    assert.deepStrictEqual(both.calls, ["read"])
    assert.match(both.text, /The tool call pay was refused/)
    world.script = streamed(form, pay)
    const alone = await form.stream()
    assert.deepStrictEqual([alone.calls, alone.reason], [[], whole.reason])
    assert.strictEqual(await world.usage(), 126)
    assert.notStrictEqual(before, world.script)
  })

  it("holds a call for its review, while text goes on", async () => {
    let hasText = false
    world.script = streamed(form, refund)
    const [answer] = await Promise.all([form.stream(() => (hasText = true)), resolved("approve")])
    assert.deepStrictEqual([hasText, answer.calls], [true, ["refund"]])
    await settled("finished", 42, ["refund intended"])
  })

  it("ends in the midst of a stream when its agent is halted", async () => {
    let text = ""
    world.script = events(...form.begin(), ...form.say("Hello "), () => new Promise(() => undefined))
    const answer = await form.stream(() => {
      text ||= "seen"
      void world.governor.kill.activate({ target_type: "agent", target_id: world.agentId, reason: "stop" } as never)
    })
    assert.include(["content_filter", "refusal"], answer.reason)
    const input = Math.ceil(world.bodies[0]!.length / 4)
    assert.isAbove(input, 0)
    const [call] = await witnessed()
    assert.deepStrictEqual([call!.status, call!.usage!.output_tokens], ["denied", 2])
    assert.strictEqual(await world.usage(), call!.usage!.input_tokens! + 2)
    const error = await form.ask().catch((cause) => cause)
    assert.strictEqual(error.status, 403)
    if (name === "messages") assert.instanceOf(error, Anthropic.PermissionDeniedError)
    else assert.instanceOf(error, OpenAI.PermissionDeniedError)
  })

  it.each([
    ["hangs", () => undefined, 0],
    ["answers 500", json({ error: { message: "no" } }, 500), 0],
    ["answers an error with 200", json({ error: { message: "no" } }), null],
    [
      "lies about its length",
      (response: any) => response.writeHead(200, { "content-length": "999" }).write("{", () => response.destroy()),
      null
    ]
  ] as const)("settles where its upstream %s", async (_, script, tokens) => {
    world.script = script as Script
    const error = await form.ask().catch((cause) => cause)
    assert.strictEqual(error.status, 502)
    if (name === "messages") assert.instanceOf(error, Anthropic.InternalServerError)
    else assert.instanceOf(error, OpenAI.InternalServerError)
    await settled("upstream_error", tokens ?? Math.ceil(world.bodies[0]!.length / 4))
  })

  it.each([
    ["cuts it", (response: any) => response.destroy()],
    ["sends what is no JSON", (response: any) => response.write("data: {\n\n")],
    [
      "repeats the place of a call",
      (response: any) =>
        response.write(
          form.call(pay, 0).map(text).join("") +
            form
              .call({ ...read, args: "{}" }, 0)
              .map((one) => text(one).replaceAll("_0", "_9"))
              .join("")
        )
    ]
  ] as const)("fails and settles a stream whose upstream %s", async (_, act) => {
    world.script = events(
      ...form.begin(),
      ...form.say("Hello "),
      act,
      () => new Promise((resolve) => setTimeout(resolve, 50))
    )
    const error = await form.stream().catch((cause) => cause)
    assert.instanceOf(error, Error)
    const [call] = await world.decisions()
    assert.strictEqual(call!.status, "error")
    assert.strictEqual(await world.usage(), call!.usage!.input_tokens! + call!.usage!.output_tokens!)
  })

  it("settles what a client that leaves has had", async () => {
    const leave = new AbortController()
    world.script = events(...form.begin(), ...form.say("Hello "), () => new Promise(() => undefined))
    await form.stream(() => leave.abort(), leave.signal).catch(() => undefined)
    const [call] = await witnessed()
    assert.deepStrictEqual([call!.status, call!.usage!.output_tokens], ["error", 2])
    assert.strictEqual(await world.usage(), call!.usage!.input_tokens! + 2)
  })
})

const raw = async (path: string, body: object, headers: object = {}) =>
  fetch(`${world.url}/v1/gateway${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${world.key}`,
      "content-type": "application/json",
      "x-flyball-agent": world.agentId,
      ...headers
    },
    body: JSON.stringify(body)
  })
const ask = { model: "m", messages: user, max_tokens: 500, seed: 7, unknown: { big: 1 } }

it("passes bodies on byte for byte where nothing is refused", async () => {
  const answer = `{ "choices" : [], "usage":{"prompt_tokens":3,"completion_tokens":4},"n":1.50 , "u":"\\u00e4" }`
  world.script = (response) => void response.writeHead(200, { "content-type": "application/json" }).end(answer)
  const whole = await raw("/chat/completions", ask, { "openai-beta": "x", cookie: "secret=1" })
  assert.deepStrictEqual([await whole.text(), world.bodies[0]], [answer, JSON.stringify(ask)])
  assert.deepStrictEqual([world.headers[0]!["openai-beta"], world.headers[0]!["cookie"]], ["x", undefined])
  assert.isUndefined(world.headers[0]!["authorization"])
  const stream = ": hello\r\n\r\n" + text(chunk({ content: "a" })) + `data: {"choices":[],"n":1.50}\r\rdata:[DONE]\n\n`
  world.script = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" })
    // In pieces that end within lines.
    for (const piece of stream.match(/[^]{1,7}/g)!) response.write(piece)
    response.end()
  }
  const streamed = await raw("/chat/completions", { ...ask, stream: true })
  assert.strictEqual(await streamed.text(), stream)
  assert.strictEqual(
    world.bodies[1],
    JSON.stringify({ ...ask, stream: true }).replace("{", '{"stream_options":{"include_usage":true},')
  )
  world.script = json({ error: { message: "bad tool" } }, 400)
  const refused = await raw("/chat/completions", ask)
  assert.deepStrictEqual([refused.status, await refused.text()], [400, '{"error":{"message":"bad tool"}}'])
})

it("refuses calls whose arguments are no JSON, and who may not ask", async () => {
  world.script = json(chat.whole("", [{ name: "read", args: "{path: a" }]))
  assert.match((await chat.ask()).text, /arguments are no JSON object/)
  await settled("finished", 42, ["read denied"])
  const statuses = async (headers: object, body: object = ask) => {
    const response = await raw("/v1/messages", body, headers)
    const { error, type } = (await response.json()) as any
    return [response.status, type, error.type, error.code]
  }
  assert.deepStrictEqual(await statuses({ "x-flyball-agent": "" }), [
    400,
    "error",
    "invalid_request_error",
    "invalid_request"
  ])
  const other = await world.governor.agents.register({
    name: "other",
    org_unit: "elsewhere",
    owner_name: "Ada",
    owner_email: "ada@example.org"
  })
  assert.deepStrictEqual(await statuses({ "x-flyball-agent": other.agent.id }), [
    404,
    "error",
    "not_found_error",
    "not_found"
  ])
  assert.deepStrictEqual(await statuses({}, { ...ask, model: "x" }), [
    404,
    "error",
    "not_found_error",
    "model_not_served"
  ])
  assert.deepStrictEqual(await statuses({}, { ...ask, max_tokens: 1_000_000 }), [
    429,
    "error",
    "rate_limit_error",
    "quota_exceeded"
  ])
  assert.deepStrictEqual(await statuses({ authorization: "", "x-api-key": "fb_live_x" }), [
    401,
    "error",
    "authentication_error",
    "invalid_api_key"
  ])
  await world.governor.kill.activate({ target_type: "model", target_id: world.modelId, reason: "bad" } as never)
  assert.deepStrictEqual(await statuses({}), [403, "error", "permission_error", "gateway_halted"])
  assert.strictEqual(await world.usage(), 42)
})

it("takes the agent from the key, and no other agent from a header", async () => {
  const { governor, url } = world
  const of = { name: "its own", org_unit: "ops", plan: "starter", scopes: ["gateway:write"], agent_id: world.agentId }
  const { key, id } = await governor.platformKeys.mint(of as never)
  const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1/gateway`, maxRetries: 0 })
  const answer = (headers = {}) =>
    client.chat.completions.create({ model: "m", messages: user, max_tokens: 500 }, { headers })
  world.script = json(chat.whole("Hello you", []))
  assert.strictEqual((await answer()).choices[0]!.message.content, "Hello you")
  await settled("finished", 42)
  const other = await answer({ "x-flyball-agent": `agt_${"0".repeat(26)}` }).catch((cause) => cause)
  assert.strictEqual(other.status, 400)
  assert.include(other.message, world.agentId)
  await governor.platformKeys.revoke(id)
  const bytes: Array<Uint8Array> = []
  for await (const piece of governor.exportPack({ kind: "full", disclose: "all" } as never)) bytes.push(piece)
  const fair = await resealed(openPack(new Uint8Array(Buffer.concat(bytes))))
  assert.deepStrictEqual([fair.status, fair.findings], [0, []], fair.text)
})

it("its pack replays, and replay finds another cost and a call that was passed on against its verdict", async () => {
  world.script = json(chat.whole("Hello you", [read, pay]))
  await chat.ask()
  const bytes: Array<Uint8Array> = []
  for await (const piece of world.governor.exportPack({ kind: "full", disclose: "all" } as never)) bytes.push(piece)
  const open = openPack(new Uint8Array(Buffer.concat(bytes)))
  const fair = await resealed(open)
  assert.deepStrictEqual([fair.status, fair.findings], [0, []], fair.text)
  const at = (kind: string, status: string) =>
    open.records.findIndex(
      ({ body }) => body["writer"] === "system:gateway" && body["kind"] === kind && body["status"] === status
    )
  const lies = [
    withBody(open, at("model_call", "ok"), (body) => ({
      ...body,
      usage: { ...(body["usage"] as object), cost_micro_usd: 1 }
    })),
    withBody(open, at("tool_call", "denied"), (body) => ({ ...body, status: "intended" })),
    withBody(open, at("tool_call", "intended"), (body) => ({ ...body, capture: "self_reported" }))
  ]
  for (const lie of lies) {
    const found = await resealed(lie)
    assert.strictEqual(found.status, 1)
    assert.include(found.text, "gateway_mismatch")
  }
})

/**
 * The other processes of the benchmark `gateway`: `upstream` answers chat completions from memory, and `proxy <port>`
 * is bare `node:http` that passes requests on to it.
 */
import { Agent, createServer, request as send } from "node:http"

const [role, port] = process.argv.slice(2)
const TICK_MS = 20

const chunk = (choices: ReadonlyArray<object>, more: object = {}) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices, ...more })}\n\n`
const text = chunk([{ index: 0, delta: { content: "word " }, finish_reason: null }])
const last =
  chunk([{ index: 0, delta: {}, finish_reason: "stop" }]) +
  chunk([], { usage: { prompt_tokens: 9, completion_tokens: 1 } }) +
  "data: [DONE]\n\n"
const whole = JSON.stringify({
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "word ".repeat(50) }, finish_reason: "stop" }],
  usage: { prompt_tokens: 9, completion_tokens: 50, total_tokens: 59 }
})

const agent = new Agent({ keepAlive: true })
const server = createServer((request, response) => {
  if (role === "proxy") {
    const { headers, method, url } = request
    const passed = send({ agent, host: "127.0.0.1", port: Number(port), path: url, method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    request.pipe(passed)
    return
  }
  let body = ""
  request.setEncoding("utf8").on("data", (piece: string) => (body += piece))
  request.on("end", () => {
    if (!body.includes('"stream":true'))
      return void response.writeHead(200, { "content-type": "application/json" }).end(whole)
    response.writeHead(200, { "content-type": "text/event-stream" }).write(text)
    if (!body.includes("endless")) return void response.end(last)
    const timer = setInterval(() => response.write(text), TICK_MS)
    response.once("close", () => clearInterval(timer))
  })
}).listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as { port: number }).port}`))
process.once("SIGTERM", () => process.exit())

/** A refund service on Fastify that gained governance. `node server.mjs [PORT]`; 0 takes a free port. */
import { Readable } from "node:stream"
import fastify from "fastify"
import { openGovernance, openOperations, refusalOf } from "./governance.mjs"

const governance = await openGovernance(process.env.DATA_DIR ?? "./data")
const operations = openOperations(governance.governor, process.env.OPERATOR_TOKEN)
const app = fastify()

// A scope without parsers: the API reads its bodies itself.
app.register(async (scope) => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser("*", (_request, _payload, done) => done(null))
  scope.all("/flyball/*", (request, reply) => {
    reply.hijack()
    operations.node(request.raw, reply.raw)
  })
})

/** Pays and says so, as the service did before. */
const pay = async (order, amount) => ({ paid: amount, order })

app.post("/refunds", async (request) => {
  const { amount, order, ref } = request.body
  const refund = { name: "refund", ref: ref ?? "" }
  const done = await governance.client.guard(refund, { order, amount }, () => pay(order, amount))
  return { repeated: done.repeated, record: done.seq, result: done.result }
})

/** The evidence pack, for an auditor. */
app.get("/evidence.evp", async (_request, reply) => {
  await governance.governor.checkpointNow()
  return reply
    .type("application/octet-stream")
    .send(Readable.from(governance.governor.exportPack({ kind: "full", disclose: "all" })))
})

/** The key that the auditor pins. */
app.get("/vkey", async (_request, reply) => reply.type("text/plain").send(`${governance.governor.chain.vkey}\n`))

app.setErrorHandler((cause, _request, reply) => {
  const refusal = refusalOf(cause)
  if (refusal === null) throw cause
  return reply.code(refusal.status).send(refusal.body)
})
app.addHook("onClose", async () => {
  await operations.close()
  await governance.governor.close()
})

await app.listen({ port: Number(process.argv[2] ?? 3000), host: "127.0.0.1" })
console.log(`ready at http://127.0.0.1:${app.server.address().port}`)
process.once("SIGTERM", () => app.close().then(() => process.exit(0)))

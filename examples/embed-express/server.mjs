/** A refund service on Express that gained governance. `node server.mjs [PORT]`; 0 takes a free port. */
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import express from "express"
import { openGovernance, openOperations, refusalOf } from "./governance.mjs"

const governance = await openGovernance(process.env.DATA_DIR ?? "./data")
const operations = openOperations(governance.governor, process.env.OPERATOR_TOKEN)
const app = express()
// Before the parser: the API reads its bodies itself.
app.use("/flyball", operations.node)
app.use(express.json())

/** Pays and says so, as the service did before. */
const pay = async (order, amount) => ({ paid: amount, order })

app.post("/refunds", async (request, response) => {
  const { amount, order, ref } = request.body
  const refund = { name: "refund", ref: ref ?? "" }
  const done = await governance.client.guard(refund, { order, amount }, () => pay(order, amount))
  response.json({ repeated: done.repeated, record: done.seq, result: done.result })
})

/** The evidence pack, for an auditor. */
app.get("/evidence.evp", async (_request, response) => {
  await governance.governor.checkpointNow()
  response.type("application/octet-stream")
  await pipeline(Readable.from(governance.governor.exportPack({ kind: "full", disclose: "all" })), response)
})

/** The key that the auditor pins. */
app.get("/vkey", async (_request, response) => response.type("text/plain").send(`${governance.governor.chain.vkey}\n`))

app.use((cause, _request, response, next) => {
  const refusal = refusalOf(cause)
  if (refusal === null) return next(cause)
  response.status(refusal.status).json(refusal.body)
})

const stop = async () => {
  await operations.close()
  await governance.governor.close()
  process.exit(0)
}
const server = app.listen(Number(process.argv[2] ?? 3000), "127.0.0.1", () =>
  console.log(`ready at http://127.0.0.1:${server.address().port}`)
)
process.once("SIGTERM", () => server.close(() => stop()))

/** A refund service on Nest that gained governance. `npm start`, or `node dist/main.js [PORT]`; 0 takes a free port. */
import "reflect-metadata"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Module } from "@nestjs/common"
import { NestFactory } from "@nestjs/core"
import { EvidenceController } from "./evidence.controller.js"
import { Governance } from "./governance.js"
import { RefusalsFilter } from "./refusals.filter.js"
import { Payments, RefundsController } from "./refunds.controller.js"

@Module({ controllers: [RefundsController, EvidenceController], providers: [Governance, Payments] })
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ["error", "warn"] })
// Before Nest's own parsers, which it adds when it starts: the API reads its bodies itself.
app.use("/flyball", (request: IncomingMessage, response: ServerResponse, next: () => void) =>
  app.get(Governance).operations.node(request, response, next)
)
app.useGlobalFilters(new RefusalsFilter())
await app.listen(Number(process.argv[2] ?? 3000), "127.0.0.1")
console.log(`ready at http://127.0.0.1:${app.getHttpServer().address().port}`)
process.once("SIGTERM", () => app.close().then(() => process.exit(0)))

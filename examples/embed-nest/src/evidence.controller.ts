import { Readable } from "node:stream"
import { Controller, Get, Header, Inject, StreamableFile } from "@nestjs/common"
import { Governance } from "./governance.js"

@Controller()
export class EvidenceController {
  constructor(@Inject(Governance) private readonly governance: Governance) {}

  /** The evidence pack, for an auditor. */
  @Get("evidence.evp")
  async pack(): Promise<StreamableFile> {
    const { governor } = this.governance
    await governor.checkpointNow()
    return new StreamableFile(Readable.from(governor.exportPack({ kind: "full", disclose: "all" })))
  }

  /** The key that the auditor pins. */
  @Get("vkey")
  @Header("content-type", "text/plain")
  vkey(): string {
    return `${this.governance.governor.chain.vkey}\n`
  }
}

import { Body, Controller, HttpCode, Inject, Injectable, Post } from "@nestjs/common"
import { Governance } from "./governance.js"

/** The service before it was governed: it pays, and reports it. */
@Injectable()
export class Payments {
  async pay(order: string, amount: number): Promise<{ readonly paid: number; readonly order: string }> {
    return { paid: amount, order }
  }
}

@Controller("refunds")
export class RefundsController {
  constructor(
    @Inject(Governance) private readonly governance: Governance,
    @Inject(Payments) private readonly payments: Payments
  ) {}

  @Post()
  @HttpCode(200)
  async refund(@Body() body: { ref?: string; order: string; amount: number }): Promise<object> {
    const { amount, order, ref = "" } = body
    const act = () => this.payments.pay(order, amount)
    const { repeated, result, seq } = await this.governance.guarded("refund", ref, { order, amount }, act)
    return { repeated, record: seq, result }
  }
}

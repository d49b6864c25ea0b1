import { Body, Controller, HttpCode, HttpException, Inject, Injectable, Post } from "@nestjs/common"
import { type Done, Governance } from "./governance.js"

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
  async refund(@Body() body: { ref: string; order: string; amount: number }): Promise<Done> {
    const { amount, order, ref } = body
    const done = await this.governance.guarded(
      { ref, signals: { tool: "refund", amount }, args: { order, amount } },
      () => this.payments.pay(order, amount)
    )
    if (!done.done) throw new HttpException(done, 403)
    return done
  }
}

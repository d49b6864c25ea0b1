/** Sum of a window, exact for any size. Spec: `SPEC.md` section 6. */
import type { WindowState } from "./meter-reading.ts"

/**
 * Sums are kept in whole parts of this and a rest: a part and the greatest amount together are below 2^53 and a rest.
 */
const PART = 2 ** 52

/**
 * The greatest reported sum, 2^53 - 1. No meter's bound reaches it, and records have none above. Spec: `envelope/1`
 * section 6.
 */
export const MAX_SUM = Number.MAX_SAFE_INTEGER

/**
 * An exact sum of amounts that can be added and removed, and their number.
 *
 * A double alone would round above 2^53, which windows can pass: a version with a longer one finds what a shorter one
 * let go of. What was rounded never comes back right. Spec: `envelope/1` section 6.
 */
export class WindowSum implements WindowState {
  count = 0
  #parts = 0
  /** From 0 to below a part. */
  #rest = 0

  /** The sum, or 2^53 - 1 where it is above that. */
  get value(): number {
    return this.#parts < 2 ? this.#parts * PART + this.#rest : MAX_SUM
  }

  /** Adds an amount: an integer from 0 to 2^53 - 1. */
  add(amount: number): void {
    this.#move(amount)
    this.count++
  }

  /** Takes away an amount that was added. */
  remove(amount: number): void {
    this.#move(-amount)
    this.count--
  }

  /** Puts one amount in the place of another. */
  replace(before: number, after: number): void {
    this.#move(after - before)
  }

  #move(by: number): void {
    // Where this is rounded it lies outside a part.
    const rest = this.#rest + by
    if (rest >= 0 && rest < PART) this.#rest = rest
    else this.#carry(by)
  }

  #carry(by: number): void {
    const parts = Math.trunc(by / PART)
    const rest = this.#rest + (by - parts * PART)
    const carried = Math.floor(rest / PART)
    this.#parts += parts + carried
    this.#rest = rest - carried * PART
  }
}

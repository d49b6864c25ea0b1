import { GovernorError } from "@flyball/core"
import { type ArgumentsHost, Catch, type ExceptionFilter } from "@nestjs/common"

/** Answers a request with what the governor refused, in words. */
@Catch(GovernorError)
export class RefusalsFilter implements ExceptionFilter<GovernorError> {
  catch({ code, detail, message }: GovernorError, host: ArgumentsHost): void {
    host
      .switchToHttp()
      .getResponse()
      .status(code === "action_denied" ? 403 : 422)
      .json({ code, message, detail: detail ?? null })
  }
}

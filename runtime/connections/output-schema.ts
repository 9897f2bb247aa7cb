/** Checks of structured answers against the schema that their tool declares. */
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";

/** As the client's own check; a schema that is no schema, a mistake of the server's, refuses nothing. */
export class OutputSchemas extends AjvJsonSchemaValidator {
  override getValidator<T>(schema: Parameters<AjvJsonSchemaValidator["getValidator"]>[0]) {
    try {
      return super.getValidator<T>(schema);
    } catch {
      return (input: unknown) => ({ valid: true as const, data: input as T, errorMessage: undefined });
    }
  }
}

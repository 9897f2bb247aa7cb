/**
 * What authoring needs to know of schemas, without importing any schema library. Zod 3.25+, zod 4, valibot, arktype
 * and the like implement the Standard Schema interface (https://standardschema.dev), which is all that is used here.
 */

/** A problem that a schema found. `path` leads from the input's root to the place. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

/** What a Standard Schema's `validate` returns: the parsed value, or the issues. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** Any validator that implements Standard Schema v1: zod 3.25+, zod 4, valibot, arktype, or your own. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** A plain JSON Schema object, such as one copied from an API description. */
export interface JsonSchemaObject {
  readonly [keyword: string]: unknown;
}

type SchemaTypes<S> = S extends { readonly "~standard": { readonly types?: infer T } } ? NonNullable<T> : never;

/** The type a schema accepts, before parsing: fields with a default are optional. */
export type InferInput<S extends StandardSchema> = SchemaTypes<S> extends { readonly input: infer I } ? I : unknown;

/** The type a schema yields, after parsing: defaults and coercions are applied. */
export type InferOutput<S extends StandardSchema> = SchemaTypes<S> extends { readonly output: infer O } ? O : unknown;

import type { CodegenConfig } from '@graphql-codegen/cli';

const config: CodegenConfig = {
  schema: '../backend/api/graphql/schema.graphql',
  documents: ['src/**/*.graphql'],
  generates: {
    'src/gql/operations.ts': {
      plugins: ['typescript-operations', 'typed-document-node'],
      config: {
        documentMode: 'string',
        enumType: 'string-literal',
        scalars: { DateTime: 'string', Int64: 'string', JSON: 'unknown' },
        skipTypename: true,
        useTypeImports: true,
      },
    },
  },
};

export default config;

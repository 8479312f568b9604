import { expect, test } from 'vitest';
import { commandOf, requestOf } from './order-text';

const order = { kind: 'create_topic', parameters: { topic_name: "it's", count: 8 } };

test('an order is one command whose words a shell keeps apart', () => {
  expect(commandOf(order)).toBe(
    `regent operation plan create_topic '{"topic_name":"it'\\''s","count":8}'`,
  );
});

test('an order is one request that holds no token', () => {
  expect(requestOf(order, 'https://regent.example.org')).toBe(
    `curl -X POST 'https://regent.example.org/api/v1/operations'` +
      ` -H "Authorization: Bearer $REGENT_TOKEN" -H 'Content-Type: application/json'` +
      ` -d '{"kind":"create_topic","parameters":{"topic_name":"it'\\''s","count":8}}'`,
  );
});

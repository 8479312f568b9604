import { afterEach, expect, test } from 'vitest';
import { observeServerDate, serverNowMs } from './server-clock';

afterEach(() => observeServerDate(new Date().toUTCString()));

test('ages are measured against the clock of the control plane', () => {
  const ahead = new Date(Date.now() + 3_600_000).toUTCString();

  observeServerDate(ahead);

  expect(serverNowMs() - Date.now()).toBeGreaterThan(3_590_000);
});

test('a difference below the resolution of the header is none', () => {
  observeServerDate(new Date(Date.now() + 900).toUTCString());

  expect(Math.abs(serverNowMs() - Date.now())).toBeLessThan(50);
});

test('a missing or unreadable date changes nothing', () => {
  observeServerDate(null);
  observeServerDate('yesterday');

  expect(Math.abs(serverNowMs() - Date.now())).toBeLessThan(50);
});

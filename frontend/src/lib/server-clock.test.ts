import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { observeServerDate, serverNowMs } from './server-clock';

// Both clocks stand still: on a busy machine much may pass between two looks at them.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  observeServerDate(new Date().toUTCString());
  vi.useRealTimers();
});

test('ages are measured against the clock of the control plane', () => {
  const ahead = new Date(Date.now() + 3_600_000).toUTCString();

  observeServerDate(ahead);

  expect(serverNowMs() - Date.now()).toBeGreaterThan(3_590_000);
});

test('a difference below the resolution of the header is none', () => {
  observeServerDate(new Date(Date.now() + 900).toUTCString());

  expect(serverNowMs()).toBe(Date.now());
});

test('a missing or unreadable date changes nothing', () => {
  observeServerDate(null);
  observeServerDate('yesterday');

  expect(serverNowMs()).toBe(Date.now());
});

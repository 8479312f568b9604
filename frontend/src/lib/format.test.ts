import { expect, test } from 'vitest';
import {
  formatAge,
  formatBytes,
  formatCountdown,
  formatDays,
  formatInt64,
  formatPercent,
  formatRate,
  formatSeconds,
  formatSpan,
} from './format';

test('bytes are written in the largest unit that keeps them above one', () => {
  expect(formatBytes(0)).toBe('0 B');
  expect(formatBytes(1023)).toBe('1,023 B');
  expect(formatBytes(1536)).toBe('1.5 KiB');
  expect(formatBytes(500 * 2 ** 30)).toBe('500 GiB');
});

test('a 64-bit integer keeps every digit', () => {
  expect(formatInt64('9223372036854775807')).toBe('9,223,372,036,854,775,807');
});

test('small rates keep a decimal and large ones do not', () => {
  expect(formatRate(0)).toBe('0');
  expect(formatRate(0.25)).toBe('0.3');
  expect(formatRate(1234.5)).toBe('1,235');
});

test('a share that is not quite nothing is not called nothing', () => {
  expect(formatPercent(0)).toBe('0 %');
  expect(formatPercent(0.004)).toBe('<1 %');
  expect(formatPercent(0.5)).toBe('50 %');
});

test('an age is shown in its largest unit and is never negative', () => {
  expect(formatAge(-5_000)).toBe('0 s');
  expect(formatAge(59_999)).toBe('59 s');
  expect(formatAge(3_600_000)).toBe('1 h');
  expect(formatAge(3 * 86_400_000)).toBe('3 d');
});

test('a span is shown in its two largest units', () => {
  expect(formatSpan(12_000)).toBe('12 s');
  expect(formatSpan(12_000_000)).toBe('3 h 20 min');
  expect(formatSpan(14 * 86_400_000)).toBe('14 d');
});

test('days near the end keep a decimal', () => {
  expect(formatDays(8.34)).toBe('8.3');
  expect(formatDays(33.2)).toBe('33');
});

test('a countdown ends at nothing and never before', () => {
  expect(formatCountdown(547_001)).toBe('9:08');
  expect(formatCountdown(1)).toBe('0:01');
  expect(formatCountdown(-5_000)).toBe('0:00');
});

test('a span too short for tenths is not called none', () => {
  expect(formatSeconds(0)).toBe('0 s');
  expect(formatSeconds(12)).toBe('<0.1 s');
  expect(formatSeconds(2_400)).toBe('2.4 s');
  expect(formatSeconds(12_600)).toBe('13 s');
});

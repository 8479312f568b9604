import { createElement, Fragment } from 'react';

/** What to do, with its commands between backticks set apart. */
export function Advice({ children }: { children: string }) {
  const parts = children.split('`');
  const drawn = parts.map((part, place) => (place % 2 ? createElement('code', null, part) : part));
  return createElement(Fragment, null, ...drawn);
}

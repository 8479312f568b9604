import type { ReactNode } from 'react';

type FactProps = { label: string; children: ReactNode; foot?: ReactNode };

/** One of the facts: its name, what it is, and beneath it when or of what. */
export function Fact({ label, children, foot }: FactProps) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
      {foot ? <dd>{foot}</dd> : null}
    </div>
  );
}

import { type ReactNode, useState } from 'react';

type FoldedProps = { label: string; children: () => ReactNode };

/** Long content, drawn only while the user has it open. */
export function Folded({ label, children }: FoldedProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{label}</summary>
      {isOpen ? children() : null}
    </details>
  );
}

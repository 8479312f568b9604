import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Operation } from './operation';
import { commandOf, requestOf } from './order-text';

const forms = ['command', 'request'] as const;

/** Copies the order that a plan was made of, as a command or as a request. */
export function CopyOrder({ operation }: { operation: Operation }) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState<(typeof forms)[number]>();
  if (!('clipboard' in navigator)) return null;
  const texts = {
    command: commandOf(operation),
    request: requestOf(operation, window.location.origin),
  };
  return (
    <>
      {forms.map((form) => (
        <Button
          key={form}
          variant="subtle"
          size="compact-sm"
          onClick={() =>
            void navigator.clipboard.writeText(texts[form]).then(() => setCopied(form))
          }
        >
          {t(copied === form ? 'plan.copied' : `plan.copy.${form}`)}
        </Button>
      ))}
    </>
  );
}

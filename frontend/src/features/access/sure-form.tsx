import { Button } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import { ErrorNotice } from '@/components/error-notice';
import classes from './access-form.module.css';

type SureFormProps<T, V> = {
  lead: string;
  word: string;
  deed: UseMutationResult<T, Error, V>;
  given: V;
};

/** Says what will come of something that can't be taken back, before it is done. */
export function SureForm<T, V>({ lead, word, deed, given }: SureFormProps<T, V>) {
  return (
    <div className={classes.form}>
      {deed.error ? <ErrorNotice error={deed.error} onRetry={() => deed.mutate(given)} /> : null}
      <p className={classes.lead}>{lead}</p>
      <div className={classes.end}>
        <Button
          color="red"
          onClick={() => deed.mutate(given)}
          loading={deed.isPending}
          data-autofocus
        >
          {word}
        </Button>
      </div>
    </div>
  );
}

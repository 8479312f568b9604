import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from './pager.module.css';

type PagerProps = {
  label: string;
  shown: number;
  /** Absent where the number of all items is unknown. */
  total?: number;
  /** Whether a table sorts the rows: it sorts only those of this page. */
  isSorted?: boolean;
  onFirst: (() => void) | undefined;
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
};

/** Moves through a list page by page, each page found by the last item of the one before. */
export function Pager(props: PagerProps) {
  const { label, shown, total, isSorted = false, onFirst, onPrevious, onNext } = props;
  const { t } = useTranslation();
  const steps = [
    ['first', onFirst],
    ['previous', onPrevious],
    ['next', onNext],
  ] as const;
  return (
    <nav className={classes.pager} aria-label={label}>
      {isSorted && (onFirst || onNext) ? <span>{t('pager.sorted')}</span> : null}
      <span>
        {total === undefined ? t('pager.counted', { shown }) : t('pager.shown', { shown, total })}
      </span>
      {steps.map(([word, go]) => (
        <Button key={word} variant="default" disabled={!go} onClick={go}>
          {t(`pager.${word}`)}
        </Button>
      ))}
    </nav>
  );
}

import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from './pager.module.css';

type PagerProps = {
  label: string;
  shown: number;
  /** Without one, nobody has counted how many there are in all. */
  total?: number;
  onFirst: (() => void) | undefined;
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
};

/** Moves through a list page by page, each page found by the last item of the one before. */
export function Pager({ label, shown, total, onFirst, onPrevious, onNext }: PagerProps) {
  const { t } = useTranslation();
  const steps = [
    ['first', onFirst],
    ['previous', onPrevious],
    ['next', onNext],
  ] as const;
  return (
    <nav className={classes.pager} aria-label={label}>
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

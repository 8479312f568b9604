import { createTheme, type MantineColorsTuple } from '@mantine/core';

const teal: MantineColorsTuple = [
  '#e8f5f5',
  '#d3e9e8',
  '#a4d3d1',
  '#72bcb9',
  '#4aa9a5',
  '#2f9d98',
  '#178983',
  '#0b6e72',
  '#085a5e',
  '#04474a',
];

const red: MantineColorsTuple = [
  '#fcebea',
  '#f7d4d1',
  '#eda9a4',
  '#e37d76',
  '#d95850',
  '#cd4138',
  '#c0332a',
  '#b3261e',
  '#961d16',
  '#7a1610',
];

/** The greys of the dark scheme, cool like the tokens. */
const dark: MantineColorsTuple = [
  '#dee5ed',
  '#b8c2ce',
  '#97a4b4',
  '#8491a2',
  '#3a4453',
  '#2c3541',
  '#1d242e',
  '#151a21',
  '#11161c',
  '#0e1217',
];

/** Mantine speaks through the tokens of tokens.css wherever it lets us. */
export const theme = createTheme({
  primaryColor: 'teal',
  primaryShade: { light: 7, dark: 7 },
  colors: { teal, red, dark },
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--font-mono)',
  defaultRadius: 5,
  cursorType: 'pointer',
  fontSizes: { xs: '11.5px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  headings: { fontWeight: '600' },
  components: {
    Button: { defaultProps: { size: 'xs' } },
    TextInput: { defaultProps: { size: 'xs' } },
    PasswordInput: { defaultProps: { size: 'sm' } },
    Select: { defaultProps: { size: 'xs' } },
    MultiSelect: { defaultProps: { size: 'xs' } },
    TagsInput: { defaultProps: { size: 'xs' } },
    NumberInput: { defaultProps: { size: 'xs' } },
    Checkbox: { defaultProps: { size: 'xs' } },
    Modal: {
      styles: {
        content: { background: 'var(--surface)' },
        header: { background: 'var(--surface)' },
        title: { fontWeight: 600 },
      },
    },
    SegmentedControl: { defaultProps: { size: 'xs' } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true } },
  },
});

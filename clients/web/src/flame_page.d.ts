declare module "flame-page" {
  const page: string;
  export default page;
}
